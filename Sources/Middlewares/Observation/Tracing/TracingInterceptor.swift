/// The implementation of `.tracing(…)`, documented there.
struct TracingInterceptor: PlacedInterceptor {
    let sampling: Double
    let origins: Set<Origin>?
    let random: RandomSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let trace = parent(of: request)?.child(span: identifier()) ?? newTrace()
        request.context.trace = trace
        request.headers.remove(.traceparent)
        request.headers.remove(.tracestate)
        if isTold(request) {
            request.headers.append(.traceparent, trace.traceparent)
            if let state = trace.tracestate { request.headers.append(.tracestate, state) }
        }
        var response = try await next(request)
        // If several tracing interceptors are on the way, the innermost one's span was sent.
        if response.context.trace == nil { response.context.trace = trace }
        return response
    }

    private func isTold(_ request: borrowing HTTPRequest) -> Bool {
        guard let origins else { return true }
        return Origin(request.url).map(origins.contains) ?? false
    }

    private func parent(of request: borrowing HTTPRequest) -> TraceContext? {
        let parents = request.headers[values: .traceparent]
        guard !parents.isEmpty else { return request.context.trace }
        guard parents.count == 1 else { return nil }
        return TraceContext(traceparent: parents[0], tracestate: request.headers[.tracestate])
    }

    private func newTrace() -> TraceContext {
        TraceContext(
            high: random.next(),
            low: identifier(),
            span: identifier(),
            isSampled: sampling >= 1 || random.unit() < sampling
        )
    }

    // Zero isn't a valid ID, and drawing again could loop forever on a source that returns only zeros.
    private func identifier() -> UInt64 {
        let number = random.next()
        return number == 0 ? 1 : number
    }

    var placement: [ChainRole] { [.measures, .changesRequest] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Sends trace IDs to servers in the fields `traceparent` and `tracestate` (W3C Trace Context).
    ///
    /// ```swift
    /// let interceptors: [any Interceptor] = [
    ///     .tracing(),             // the call: begins a trace, or goes on with that of the request
    ///     .retry(…),
    ///     .tracing(),             // each attempt is a separate span in the same trace
    ///     .logging(.headers),
    /// ]
    /// ```
    /// ## Order
    /// - Outside a retry, a redirect or a refresh, a span is a call: all attempts carry the same span.
    /// - Inside them, a span is an attempt.
    /// - With an interceptor at each position, as above, the attempts are spans of one trace, with the call's span as parent.
    /// - Outside `logging`, so that the log shows the fields.
    /// - Inside or outside `sign`: by default, the ready-made signers don't cover these fields.
    ///
    /// ## Behaviour
    /// A request with a valid `traceparent`, or a trace in its context (``InterceptorsTransport/HTTPContext/trace``), becomes a new span of that
    /// trace, with the same sampling decision. An invalid `traceparent` is replaced with a new trace and its `tracestate` is
    /// dropped, as the recommendation demands. The response's context has the span.
    ///
    /// - Parameters:
    ///   - sampling: the share of new traces to record, from 0 to 1; by default all.
    ///   - origins: the origins that receive the fields; `nil`, the default, for all. The fields are removed from requests to
    ///     other origins.
    ///   - time: the source of IDs and of the sampling decision.
    public static func tracing(sampling: Double = 1, origins: Set<Origin>? = nil, time: TimeSource = .system) -> Self {
        Self(TracingInterceptor(sampling: sampling, origins: origins, random: time.random))
    }
}
