/// Lets only so many requests be under way at a time, in total and to each host; the others wait, first come, first served.
///
/// ```swift
/// interceptors: [
///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
///     .cache(.memory()),
///     .retry(.exponential(maxAttempts: 3)),
///     .limitConcurrency(32, perHost: 6),                  // of what goes over the wire
///     .timeout(.seconds(10), of: "one attempt"),          // its time doesn't run while it waits
/// ]
/// ```
/// ## Its place
/// Inside of what waits or answers by itself: a cache (a hit needs no permit), `retryOnUnauthorized` (a request that waits
/// for a refresh holds none), `retry` (nor does one in its backoff). Outside of a `timeout` of one attempt, or inside of it
/// if waiting is to count. Its copies share their permits: the same value may stand in several chains.
///
/// ## What it promises
/// - First come, first served. Only whoever waits for a host that is at its limit is passed by those for other hosts.
/// - A cancelled request leaves the line at once with `CancellationError`, and no permit is lost by it.
/// - Waiting ends at the deadline of the call (``HTTPContext/deadline``) with ``TransportError/Code/timedOut``.
/// - Where the line is limited, a request that finds it full fails at once: ``ConcurrencyLimitError``.
/// - The permit of a buffered response is given back when it is here; that of a streamed one when its body has been read to
///   the end, has failed, was discarded (``HTTPBody/discard()``), or is held by nobody any more. Until then the connection is
///   in use. Whoever keeps a streamed response without reading it keeps its permit.
/// - A request that belongs to the refresh of a credential passes without a permit (``CredentialRefresh/isCurrent``): the
///   permits may be held by requests that wait for it.
///
/// What holds a permit must not wait for another request through the same limit: with all permits held by such requests,
/// none goes on.
public struct LimitConcurrencyInterceptor: Interceptor {
    let pool: PermitPool

    /// A limit.
    ///
    /// - Parameters:
    ///   - total: the most requests at a time, at least 1; `nil` for no such limit.
    ///   - perHost: the most requests at a time to each host, told by scheme, host and port, at least 1; `nil` for no such
    ///     limit.
    ///   - waiting: the most requests that wait, beyond which they fail; `nil` for no such limit.
    public init(_ total: Int? = nil, perHost: Int? = nil, waiting: Int? = nil) {
        self.init(total, perHost: perHost, waiting: waiting) { _ in }
    }

    init(_ total: Int?, perHost: Int? = nil, waiting: Int? = nil, observe: @escaping @Sendable (_ waiting: Int) -> Void)
    {
        pool = PermitPool(
            total: total.map { max(1, $0) },
            perHost: perHost.map { max(1, $0) },
            waiting: waiting.map { max(0, $0) },
            observe: observe
        )
    }

    /// Passes the request on when there is a permit for it.
    ///
    /// - Throws: ``ConcurrencyLimitError``; ``TransportError`` with ``TransportError/Code/timedOut`` if the deadline passes
    ///   before its turn; `CancellationError`; what the rest throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if CredentialRefresh.isCurrent { return try await next(request) }
        let scope = pool.scope(of: request)
        try await pool.take(for: scope, request)
        var response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            pool.giveBack(for: scope)
            throw error
        }
        if response.body.isUnderWay {
            response.body = response.body.onEnd { [pool] in pool.giveBack(for: scope) }
        } else {
            pool.giveBack(for: scope)
        }
        return response
    }
}

extension Interceptor where Self == LimitConcurrencyInterceptor {
    /// Lets only so many requests be under way at a time: see ``LimitConcurrencyInterceptor``.
    ///
    /// - Parameters:
    ///   - total: the most requests at a time, at least 1; `nil` for no such limit.
    ///   - perHost: the most requests at a time to each host, at least 1; `nil` for no such limit.
    ///   - waiting: the most requests that wait, beyond which they fail; `nil` for no such limit.
    public static func limitConcurrency(_ total: Int? = nil, perHost: Int? = nil, waiting: Int? = nil) -> Self {
        Self(total, perHost: perHost, waiting: waiting)
    }
}
