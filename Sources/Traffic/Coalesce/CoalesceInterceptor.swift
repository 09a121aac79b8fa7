/// The implementation of `.coalesce(…)`, documented there.
struct CoalesceInterceptor: PlacedInterceptor {
    /// Fields that only label a request.
    static let labels: Set<HTTPField.Name> = [
        .transactionID, "X-Request-ID", "X-Correlation-ID", "traceparent", "tracestate", "baggage",
    ]

    let coalescer: Coalescer
    private let ignored: Set<HTTPField.Name>
    private let apart: (@Sendable (HTTPRequest) -> String?)?

    init(
        ignoring ignored: Set<HTTPField.Name> = [],
        apart: (@Sendable (HTTPRequest) -> String?)? = nil,
        observe: @escaping @Sendable (CoalesceEvent) -> Void
    ) {
        self.ignored = ignored.union(Self.labels)
        self.apart = apart
        coalescer = Coalescer(observe: observe)
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if !request.method.isSafe, let origin = Origin(request.url) {
            defer { coalescer.close(origin) }
            return try await next(request)
        }
        let request = request
        guard !Task.isRefreshingCredential, !coalescer.isInside(request),
            let identity = ExchangeIdentity(of: request, ignoring: ignored, apart: apart?(request))
        else { return try await next(request) }
        return try await coalescer.response(to: request, identity, next: next)
    }

    var placement: [ChainRole] { [.shares] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Lets identical GET requests that run at the same time share one exchange.
    ///
    /// ```swift
    /// interceptors: [
    ///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
    ///     .coalesce(),                                        // sees who asks
    ///     .cache(.memory()),
    ///     .retry(maxAttempts: 3),
    /// ]
    /// ```
    /// ## Order
    /// - Inside interceptors that add credentials (`bearerAuth`, cookies, basic authentication), so that users never share a
    ///   response. A call whose credentials are added further inside fails with `HTTPErrorCode.sharedResponse`, unless the
    ///   request names a partition (`HTTPContext.cachePartition`).
    /// - Outside a cache, a retry, and interceptors that limit or count requests, so that they run once for all callers that
    ///   share.
    ///
    /// ## When requests are identical
    /// Both are GETs without content, and have the same URL, header fields, client origin, time limits, buffer limit, excluded
    /// networks (`HTTPContext.network`) and cache use (`context.cacheMode`, `HTTPContext.cachePartition`).
    ///
    /// Every field counts, except those that only label requests: `TransactionId`, `X-Request-ID`, `X-Correlation-ID`,
    /// `traceparent`, `tracestate`, `baggage`, and those that `ignoring` adds. A field with a sensitive name
    /// (`Redaction.isSensitive(_:)`) always counts, even if `ignoring` names it; `Proxy-Authorization` can be ignored. Use
    /// `apart` for anything else that must keep requests separate.
    ///
    /// Some requests never share:
    /// - requests for a streamed response, because a stream can be read once, and the slowest reader would delay the others;
    /// - requests that report progress or interim responses;
    /// - requests that refresh a credential (`Task.isRefreshingCredential`), because the exchange may wait for the refresh;
    /// - requests of an exchange that come to the same interceptor again, because they would wait for themselves.
    ///
    /// ## Behaviour
    /// - The exchange runs in a separate task. Cancelling a caller, even the one that started the exchange, only ends that
    ///   caller's wait, at once and with `CancellationError`. When the last caller leaves, the exchange is cancelled, and the
    ///   next request starts a new one.
    /// - Cookies that the response sets go only to the request that started the exchange.
    /// - All waiting callers get the exchange's error, and the next request starts a new exchange.
    /// - Each caller leaves at its deadline (`context.deadline`) with `HTTPErrorCode.timedOut`; the exchange has
    ///   the latest of these deadlines.
    /// - After an unsafe request (RFC 9110 §9.2.1) ends, no request joins a GET to the same origin that started before. So a
    ///   caller that writes and then reads sees the change.
    ///
    /// The exchange has the context, the priority and the task-local values of the request that started it. A response to any
    /// other request is marked ``InterceptorsTransport/HTTPContext/isCoalesced``.
    ///
    /// - Parameters:
    ///   - ignored: further header fields that don't affect the response.
    ///   - apart: returns a further value that must be equal for requests to share, such as a value of their context; by
    ///     default none.
    public static func coalesce(
        ignoring ignored: Set<HTTPField.Name> = [],
        apart: (@Sendable (HTTPRequest) -> String?)? = nil
    ) -> Self {
        Self(CoalesceInterceptor(ignoring: ignored, apart: apart) { _ in })
    }
}
