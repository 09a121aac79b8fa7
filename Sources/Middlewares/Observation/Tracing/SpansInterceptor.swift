extension Interceptor where Self == AnyInterceptor {
    /// Reports each exchange as a span to a tracing system.
    ///
    /// ```swift
    /// .tracing { request in
    ///     let span = tracer.startSpan("\(request.method)")
    ///     request.headers[.traceparent] = span.traceparent
    ///     return span
    /// } end: { span, response, error in
    ///     if let error { span.record(error) }
    ///     span.end()
    /// }
    /// ```
    /// For swift-distributed-tracing and OpenTelemetry's names, use the package `Adapters/Observability`.
    ///
    /// ## Order
    /// - Outside `retry`, `followRedirects` and `retryOnUnauthorized`, a span is a call. Inside them, each attempt is a span.
    /// - With `.tracing(begin:end:)` at both places, the attempts' spans can be children of the call's span: `begin` may put the span
    ///   into the request's context, where the inner `begin` finds it.
    /// - Outside `coalesce` and `cache`, each caller has a span; inside, each exchange has one. `coalesce` ignores the fields
    ///   `traceparent`, `tracestate` and `baggage`; name any other field that `begin` adds in `coalesce(ignoring:)`, because
    ///   requests that differ in it share nothing.
    /// - Outside `logging`, so that the log shows the added fields. Inside or outside `sign`: by default, the ready-made signers
    ///   don't cover trace fields.
    ///
    /// ## When a span ends
    /// A span ends with the response, if its content is in memory, in a file or can be read again. With a one-shot stream, the
    /// span ends with the last byte, with an error or cancellation of reading, or when the body is discarded or deallocated. If
    /// the call fails, the span ends with its error.
    ///
    /// ``tracing(sampling:origins:time:)`` sends trace fields without a tracing system. The exchange waits for both closures, so they
    /// must return quickly.
    ///
    /// - Parameters:
    ///   - begin: begins a span for a request that is about to be passed on. The closure may add fields that tell the server
    ///     about the span, and values to the request's context for interceptors further inside. Report
    ///     `HTTPRequest.summary` rather than the URL, which may hold secrets. `HTTPContext.endpoint` may name the endpoint,
    ///     and ``InterceptorsTransport/HTTPContext/resendCount`` counts earlier attempts of the call.
    ///   - end: ends the span. Called exactly once for each span, on any thread. `response` has no content, and its fields may
    ///     hold secrets. After an error, the error was made from this response; `nil` if no response arrived. `error` is the call's
    ///     error or that of reading a one-shot stream; `nil` if the response is complete. A `CancellationError` says that the call
    ///     or the reading was cancelled, or the rest of the stream was discarded.
    public static func tracing<Span: Sendable>(
        begin: @escaping @Sendable (_ request: inout HTTPRequest) -> Span,
        end: @escaping @Sendable (_ span: Span, _ response: HTTPResponse?, _ error: (any Error)?) -> Void
    ) -> Self {
        let interceptor = SpansInterceptor { request in
            let span = begin(&request)
            return { end(span, $0, $1) }
        }
        return Self(interceptor)
    }
}

/// The implementation of `.tracing(begin:end:)`, documented there.
struct SpansInterceptor: PlacedInterceptor {
    /// Begins a span, and returns the closure that ends it.
    let begin: @Sendable (inout HTTPRequest) -> @Sendable (HTTPResponse?, (any Error)?) -> Void

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let end = begin(&request)
        var response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            end(error.receivedResponse?.head, error)
            throw error
        }
        let head = response.head
        response.body = response.body.onEnd { end(head, $0) }
        return response
    }

    // By default, the signers don't cover trace fields, so these may be added after signing.
    var placement: [ChainRole] { [.spelled("tracing"), .measures] }
}
