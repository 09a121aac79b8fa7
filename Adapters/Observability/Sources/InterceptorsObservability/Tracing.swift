public import Interceptors
public import Tracing

extension Interceptor where Self == AnyInterceptor {
    /// Reports each exchange as a span to swift-distributed-tracing, with OpenTelemetry's names for the spans of HTTP clients.
    ///
    /// ```swift
    /// interceptors: [
    ///     .followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(maxAttempts: 3),
    ///     .tracing(with: InstrumentationSystem.tracer),       // a span for each attempt, as OpenTelemetry recommends
    /// ]
    /// ```
    /// The span's parent is the request's ``HTTPContext/serviceContext`` or, without one, `ServiceContext.current`. While the
    /// rest of the chain runs, `ServiceContext.current` is the span's context, also in a refresh, in an exchange that several
    /// callers share, and in the second attempt of `hedge`. The server is told in the fields that the tracer injects.
    ///
    /// The span ends as ``Interceptor/tracing(begin:end:)`` says: with the last byte of a streamed response.
    ///
    /// - Parameters:
    ///   - tracer: the tracer: `InstrumentationSystem.tracer` is the one that the program was set up with.
    ///   - origins: the origins that are told about the span; `nil`, the default, for all. Any other gets none of the tracer's
    ///     fields, not even of an outer span. Outside `followRedirects`, only the first URL counts.
    ///   - knownMethods: the methods that are named; any other is `_OTHER`.
    public static func tracing(
        with tracer: any Tracer,
        origins: Set<Origin>? = nil,
        knownMethods: Set<HTTPRequest.Method>? = nil
    ) -> Self {
        let spans: Self = .openTelemetrySpans(tracer, origins: origins, knownMethods: knownMethods)
        return .group([spans, .currentServiceContext])
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Makes the request's context the task's. The request no longer has it, so that a span which an interceptor begins further
    /// inside is the parent of inner spans.
    fileprivate static var currentServiceContext: Self {
        .intercept { request, next in
            guard let context = request.context.serviceContext else { return try await next(request) }
            request.context.serviceContext = nil
            let inner = request
            return try await ServiceContext.withValue(context) { try await next(inner) }
        }
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// The spans of ``Interceptor/tracing(with:origins:knownMethods:)``, for a chain that puts them together in another way. It
    /// leaves the span's context in the request's ``HTTPContext/serviceContext``.
    public static func openTelemetrySpans(
        _ tracer: any Tracer,
        origins: Set<Origin>? = nil,
        knownMethods: Set<HTTPRequest.Method>? = nil
    ) -> Self {
        let methods = knownMethods ?? HTTPRequest.Method.known
        return .tracing { request in
            let parent = request.context.serviceContext ?? ServiceContext.current ?? .topLevel
            let conventions = ClientSpan(request, knownMethods: methods)
            let span: any Tracing.Span = tracer.startSpan(conventions.name, context: parent, ofKind: .client)
            span.attributes.merge(conventions.attributes)
            request.context.serviceContext = span.context
            var fields = HTTPFields()
            tracer.inject(span.context, into: &fields, using: FieldInjector())
            let isTold = origins.map { $0.contains(anyOf: request) } ?? true
            // Removed otherwise: an outer span's fields may have come along through a redirect.
            for field in fields { request.headers[field.name] = isTold ? field.value : nil }
            return span
        } end: { span, response, error in
            let outcome = ClientSpan.Outcome(response, error)
            span.attributes.merge(outcome.attributes)
            if let error = outcome.recorded { span.recordError(error) }
            if outcome.isError { span.setStatus(SpanStatus(code: .error)) }
            span.end()
        }
    }
}

extension Set<Origin> {
    fileprivate func contains(anyOf request: HTTPRequest) -> Bool { Origin(request.url).map(contains) ?? false }
}

/// Puts the values of a tracing system into fields.
struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        // A value that can't be sent would make the call fail.
        guard let name = HTTPField.Name(key), HTTPField(name: name, value: value) != nil else { return }
        fields[name] = value
    }
}

extension HTTPContext {
    private enum ServiceContextKey: HTTPContextKey { static var defaultValue: ServiceContext? { nil } }
    private enum URLTemplateKey: HTTPContextKey { static var defaultValue: String? { nil } }

    /// On a request: the context that its span belongs to; `nil` for the task's.
    public var serviceContext: ServiceContext? {
        get { self[ServiceContextKey.self] }
        set { self[ServiceContextKey.self] = newValue }
    }

    /// On a request: the form of its path, such as `/users/{id}`, for the name of its span. It must not hold values.
    ///
    /// ```swift
    /// struct GetUser: Endpoint {
    ///     let id: Int
    ///     var request: EndpointRequest<User> { .get("/users/\(id)", context: .with(\.urlTemplate, "/users/{id}")) }
    /// }
    /// ```
    public var urlTemplate: String? {
        get { self[URLTemplateKey.self] }
        set { self[URLTemplateKey.self] = newValue }
    }
}
