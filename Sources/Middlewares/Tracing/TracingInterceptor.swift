/// Tells servers which trace a request belongs to: `traceparent` and `tracestate` (W3C Trace Context).
///
/// ```swift
/// let interceptors: [any Interceptor] = [
///     .tracing(),             // the call: begins a trace, or goes on with that of the request
///     .retry(…),
///     .tracing(),             // each attempt: a span of its own in the same trace
///     .logging(.headers),
/// ]
/// ```
/// ## Its place
/// Where it stands decides what a span is. Outside of a retry, a redirect or a refresh it is the call: all attempts carry
/// one span. Inside it is the attempt; used in both places, as above, the attempts are spans of one trace, of which the call's
/// span is the parent. Outside of what logs; `sign` doesn't sign these fields.
///
/// A request that carries a valid `traceparent`, or has a trace in its context (``HTTPContext/trace``), stays in that trace,
/// recorded or not as that says, and goes out as a new span of it. An invalid one is replaced by a new trace, and its
/// `tracestate` dropped, as the recommendation demands. The response's context has the span.
public struct TracingInterceptor: Interceptor {
    private let sampling: Double
    private let origins: Set<Origin>?
    private let random: RandomSource

    /// A tracing interceptor.
    ///
    /// - Parameters:
    ///   - sampling: the share of the traces begun here that is recorded, from 0 to 1.
    ///   - origins: who is told of traces; `nil` for everyone. The fields are taken off requests to others.
    ///   - random: where IDs and the choice come from.
    public init(sampling: Double = 1, origins: Set<Origin>? = nil, random: RandomSource = .system) {
        self.sampling = sampling
        self.origins = origins
        self.random = random
    }

    /// Gives the request its span, and passes it on.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let trace = parent(of: request)?.child(span: identifier()) ?? newTrace()
        request.context.trace = trace
        request.headerFields.remove(.traceparent)
        request.headerFields.remove(.tracestate)
        if isTold(request) {
            request.headerFields.append(.traceparent, trace.traceparent)
            if let state = trace.tracestate { request.headerFields.append(.tracestate, state) }
        }
        var response = try await next(request)
        // Of several on the way, the innermost sent it.
        if response.context.trace == nil { response.context.trace = trace }
        return response
    }

    private func isTold(_ request: borrowing HTTPRequest) -> Bool {
        guard let origins else { return true }
        return Origin(request.url).map(origins.contains) ?? false
    }

    private func parent(of request: borrowing HTTPRequest) -> TraceContext? {
        let parents = request.headerFields[values: .traceparent]
        guard !parents.isEmpty else { return request.context.trace }
        guard parents.count == 1 else { return nil }
        return TraceContext(traceparent: parents[0], tracestate: request.headerFields[.tracestate])
    }

    private func newTrace() -> TraceContext {
        TraceContext(
            high: random.next(),
            low: identifier(),
            span: identifier(),
            isSampled: sampling >= 1 || random.unit() < sampling
        )
    }

    // Zero is no ID; a source that gives nothing else shall not hold up a request.
    private func identifier() -> UInt64 {
        let number = random.next()
        return number == 0 ? 1 : number
    }
}

extension Interceptor where Self == TracingInterceptor {
    /// Sends `traceparent` and `tracestate`: see ``TracingInterceptor``, and its initialiser for the parameters.
    public static func tracing(
        sampling: Double = 1,
        origins: Set<Origin>? = nil,
        random: RandomSource = .system
    ) -> Self {
        Self(sampling: sampling, origins: origins, random: random)
    }
}
