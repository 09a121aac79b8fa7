/// Lets identical GETs that are in flight at the same time share one exchange.
///
/// ```swift
/// interceptors: [
///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
///     .coalesce(),                                        // sees who asks
///     .cache(.memory()),
///     .retry(.exponential(maxAttempts: 3)),
/// ]
/// ```
/// ## Its place
/// Inside of whatever adds credentials (`bearerAuth`, cookies, basic authentication): only so does it see who asks, and
/// users never share an answer. Inside of it credentials are refused (``ChainOrderError``), unless the request names a
/// partition (``HTTPContext/cachePartition``). Outside of a cache, a retry, and what limits or counts requests: what they
/// do is done once for all who share.
///
/// ## What is identical
/// A GET without content, with the same URL, the same header fields, the same client origin, time limits and buffer limit,
/// and the same use of a cache (``HTTPContext/cacheMode``, ``HTTPContext/cachePartition``).
/// Every field counts but those that only tell requests apart (``defaultIgnored``). Every field with a sensitive name
/// (``Redaction/isSensitive(_:)``) always counts, even if `ignoring` names it. What else must tell requests apart goes
/// into `apart`.
///
/// These go by themselves: what asks for a streamed response (a stream can be read once, and the slowest reader would hold
/// up the others) or for its progress, and what belongs to the refresh of a credential (``CredentialRefresh/isCurrent``),
/// which must not wait for an exchange that may wait for it.
///
/// ## What it promises
/// - The exchange runs in a task of its own. Cancelling one of those who wait, the one for whom it was begun too, ends its
///   waiting at once with `CancellationError` and nothing else; when the last one leaves, the exchange is cancelled, and the
///   next request begins a new one.
/// - Cookies that the response sets go to the request for which the exchange was begun, and to no other.
/// - An error is thrown to all who wait, and the next request begins a new exchange.
/// - Each who waits leaves at its own deadline; the exchange has that of the one who can wait longest
///   (``HTTPContext/deadline``).
/// - After a request that may change something (one that is not safe, RFC 9110 §9.2.1) nobody joins a GET to the same origin
///   that was begun before it ended: whoever writes and then reads sees what was written.
///
/// The exchange has the context, the priority and the task-local values of the request for which it was begun. A response
/// that was begun for another request says so: ``HTTPContext/isCoalesced``.
public struct CoalesceInterceptor: Interceptor {
    /// The fields that make no difference by default: `TransactionId`, `X-Request-ID`, `X-Correlation-ID`, `traceparent`,
    /// `tracestate` and `baggage`.
    public static let defaultIgnored: Set<HTTPField.Name> = [
        .transactionID, "X-Request-ID", "X-Correlation-ID", "traceparent", "tracestate", "baggage",
    ]

    let coalescer: Coalescer
    private let ignored: Set<HTTPField.Name>
    private let apart: (@Sendable (HTTPRequest) -> String?)?

    /// An interceptor that lets identical GETs share. Its copies share the exchanges.
    ///
    /// - Parameters:
    ///   - ignored: names of header fields that make no difference to the answer.
    ///   - apart: what else tells requests apart, such as a value of their context; by default nothing.
    public init(
        ignoring ignored: Set<HTTPField.Name> = CoalesceInterceptor.defaultIgnored,
        apart: (@Sendable (HTTPRequest) -> String?)? = nil
    ) {
        self.init(ignoring: ignored, apart: apart) { _ in }
    }

    init(
        ignoring ignored: Set<HTTPField.Name> = CoalesceInterceptor.defaultIgnored,
        apart: (@Sendable (HTTPRequest) -> String?)? = nil,
        observe: @escaping @Sendable (CoalesceEvent) -> Void
    ) {
        self.ignored = ignored
        self.apart = apart
        coalescer = Coalescer(observe: observe)
    }

    /// Passes the request on, or waits for an exchange that is in flight for an identical one.
    ///
    /// - Throws: what the rest throws, to whichever request; ``TransportError`` with ``TransportError/Code/timedOut`` at the
    ///   deadline; `CancellationError`.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if !request.method.isSafe, let origin = Origin(request.url) {
            defer { coalescer.close(origin) }
            return try await next(request)
        }
        let request = request
        guard !CredentialRefresh.isCurrent,
            let identity = ExchangeIdentity(of: request, ignoring: ignored, apart: apart?(request))
        else { return try await next(request) }
        return try await coalescer.response(to: request, identity, next: next)
    }
}

extension Interceptor where Self == CoalesceInterceptor {
    /// Lets identical GETs that are in flight at the same time share one exchange: see ``CoalesceInterceptor``.
    ///
    /// - Parameters:
    ///   - ignored: names of header fields that make no difference to the answer.
    ///   - apart: what else tells requests apart, such as a value of their context; by default nothing.
    public static func coalesce(
        ignoring ignored: Set<HTTPField.Name> = CoalesceInterceptor.defaultIgnored,
        apart: (@Sendable (HTTPRequest) -> String?)? = nil
    ) -> Self {
        Self(ignoring: ignored, apart: apart)
    }
}
