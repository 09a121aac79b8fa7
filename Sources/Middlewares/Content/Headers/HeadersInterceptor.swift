/// The implementation of `.headers(…)`, documented there.
struct HeadersInterceptor: PlacedInterceptor {
    typealias Fields = @Sendable (HTTPRequest) async throws -> HTTPFields

    enum Source: Sendable {
        case fixed(defaults: HTTPFields, forced: HTTPFields)
        case made(Fields, isForced: Bool)
    }

    let source: Source

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        switch source {
        case .fixed(let defaults, let forced):
            request.addDefaults(defaults)
            request.headers.override(with: forced)
        case .made(let make, let isForced):
            let fields = try await make(copy request)
            if isForced { request.headers.override(with: fields) } else { request.addDefaults(fields) }
        }
        return try await next(request)
    }

    var placement: [ChainRole] {
        switch source {
        case .fixed(_, let forced) where forced.contains(.authorization): [.forcesAuthorization]
        case .fixed(let defaults, _) where defaults.contains(.authorization): [.addsAuthorizationEverywhere]
        case .fixed(let defaults, let forced):
            [defaults, forced].contains { $0.contains { $0.name.identifiesCaller } }
                ? [.addsFieldsEverywhere] : [.changesRequest]
        case .made: [.changesRequest, .mayAddCredentials]
        }
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Adds fields to each request: defaults, which the request's fields override, and forced ones, which override the
    /// request's.
    ///
    /// ```swift
    /// let interceptors: [any Interceptor] = [
    ///     .headers([.accept: "application/json", .userAgent: "Shop/4.2"], forced: ["X-Client": "ios"]),
    ///     .headers { request in [.acceptLanguage: await settings.language] },
    /// ]
    /// ```
    /// ## Order
    /// - Outside interceptors that log, sign or cache by the fields.
    /// - Outside a retry, a closure runs once for all attempts; inside, once for each attempt.
    ///
    /// ## Behaviour
    /// All requests get the fields, even those that go to another server by an absolute URL or a redirect. So don't use this
    /// interceptor **for credentials**: `bearerAuth` binds a token to its origins, and a closure can check `request.url`.
    ///
    /// Names are compared without regard to case, and a field with an empty value counts as present. The `Accept` and
    /// `Content-Type` that a ``Client`` fills in by itself don't count as present. If two added fields have the same name, both
    /// are sent. A field with a control character is never sent: the transport rejects the request with
    /// `HTTPErrorCode.invalidRequest`.
    ///
    /// - Parameters:
    ///   - defaults: fields to add unless the request has a field of that name.
    ///   - forced: fields that replace a request's fields of the same name, and defaults; by default none.
    public static func headers(_ defaults: HTTPFields, forced: HTTPFields = HTTPFields()) -> Self {
        Self(HeadersInterceptor(source: .fixed(defaults: defaults, forced: forced)))
    }

    /// Adds fields that replace a request's fields of the same name. See ``headers(_:forced:)``.
    public static func headers(forced: HTTPFields) -> Self { headers(HTTPFields(), forced: forced) }

    /// Adds fields from a closure to each request. See ``headers(_:forced:)``.
    ///
    /// - Parameters:
    ///   - overriding: whether the fields replace a request's fields of the same name; by default they don't.
    ///   - make: receives the request as it is here and returns the fields. If it throws, the caller gets the error and nothing
    ///     is sent.
    public static func headers(
        overriding: Bool = false,
        _ make: @escaping @Sendable (HTTPRequest) async throws -> HTTPFields
    ) -> Self {
        Self(HeadersInterceptor(source: .made(make, isForced: overriding)))
    }
}
