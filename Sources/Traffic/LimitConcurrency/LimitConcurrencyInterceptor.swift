/// The implementation of `.limitConcurrency(…)`, documented there.
struct LimitConcurrencyInterceptor: PlacedInterceptor {
    let pool: PermitPool

    init(
        _ total: Int?,
        perHost: Int? = nil,
        maxQueued: Int? = nil,
        observe: @escaping @Sendable (_ waiting: Int) -> Void = { _ in }
    ) {
        pool = PermitPool(
            total: total.map { max(1, $0) },
            perHost: perHost.map { max(1, $0) },
            maxQueued: maxQueued.map { max(0, $0) },
            observe: observe
        )
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if Task.isRefreshingCredential { return try await next(request) }
        let scope = pool.scope(of: request)
        let holdsPermitUntilEnd = request.context.callShape.holdsPermitUntilEnd
        try await pool.acquire(for: scope, request)
        var response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            pool.release(for: scope)
            throw error
        }
        guard holdsPermitUntilEnd else {
            pool.release(for: scope)
            return response
        }
        response.body = response.body.onEnd { [pool] _ in pool.release(for: scope) }
        return response
    }

    var placement: [ChainRole] {
        let limits = [pool.total.map { "\($0)" }, pool.perHost.map { "perHost: \($0)" }]
        let roles: [ChainRole] = [
            .limitsConcurrency, .waits, .keepsOrder, .set(limits.compactMap(\.self).joined(separator: ", ")),
        ]
        let idle = ChainRole.idle("has no limit", remedy: ".limitConcurrency(32, perHost: 6)")
        return pool.isUnlimited ? roles + [idle] : roles
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Limits how many requests run at a time, in total and per host; further requests wait, first come, first served.
    ///
    /// ```swift
    /// interceptors: [
    ///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
    ///     .cache(.memory()),
    ///     .retry(maxAttempts: 3),
    ///     .limitConcurrency(32, perHost: 6),                  // of what goes over the wire
    ///     .timeout(.seconds(10), of: "one attempt"),          // its time doesn't run while it waits
    /// ]
    /// ```
    /// ## Order
    /// - Inside a cache, because a hit needs no permit.
    /// - Inside `retryOnUnauthorized` and `retry`, so that requests waiting for a refresh or for their next attempt hold no
    ///   permit.
    /// - Outside a `timeout` of one attempt, unless the timeout should include the wait.
    ///
    /// Copies share their permits, so the same value can be part of several chains.
    ///
    /// ## Behaviour
    /// - First come, first served, with one exception: a request for a host at its limit is passed by requests for other hosts.
    /// - A cancelled request leaves the line at once with `CancellationError`, and no permit is lost.
    /// - Waiting ends at the call's deadline (`context.deadline`) with `HTTPErrorCode.timedOut`.
    /// - If the line is limited, a request that finds it full fails at once with `LimitError`.
    /// - A buffered response releases its permit when it arrives. A streamed response keeps the connection busy, and so holds
    ///   its permit until its body ends, fails, is discarded (`HTTPBody.discard()`) or is deallocated. Code that keeps a
    ///   streamed response without reading it also keeps the permit.
    /// - A live stream (`CallShape.liveStream`), such as that of `Client.events`, releases its permit when its head arrives,
    ///   because it may last for hours. Live streams are therefore not limited while they run.
    /// - A request that refreshes a credential needs no permit (`Task.isRefreshingCredential`), because the requests that hold
    ///   the permits may be waiting for the refresh.
    ///
    /// Work that holds a permit must not wait for another request through the same limit. If such work held all permits, no
    /// request could continue.
    ///
    /// - Parameters:
    ///   - total: the maximum number of requests at a time, at least 1; `nil`, the default, for no limit.
    ///   - perHost: the maximum number of requests at a time to each host (scheme, host and port), at least 1; `nil`, the
    ///     default, for no limit.
    ///   - maxQueued: the maximum number of waiting requests, beyond which requests fail; `nil`, the default, for no limit.
    public static func limitConcurrency(_ total: Int? = nil, perHost: Int? = nil, maxQueued: Int? = nil) -> Self {
        Self(LimitConcurrencyInterceptor(total, perHost: perHost, maxQueued: maxQueued))
    }
}
