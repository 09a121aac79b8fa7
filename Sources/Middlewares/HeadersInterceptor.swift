/// Adds fields to each request: defaults, which a request's own value overrides, and forced ones, which override it.
///
/// ```swift
/// let interceptors: [any Interceptor] = [
///     .headers([.accept: "application/json", .userAgent: "Shop/4.2"], forced: ["X-Client": "ios"]),
///     .headers { request in [.acceptLanguage: await settings.language] },
/// ]
/// ```
/// ## Its place
/// Anywhere outside what logs, signs or caches by the fields. Outside a retry a closure is asked once for all attempts,
/// inside it once for each.
///
/// It adds its fields to every request, wherever that goes, also to another server by an absolute URL or a redirect. So it is
/// **not for credentials**: `bearerAuth` binds a token to its origins, and a closure can look at `request.url`.
///
/// A name counts as given however it is spelled, and even with an empty value; what a ``Client`` filled in on its own,
/// `Accept` and the `Content-Type` of an encoded value, doesn't. Of a name that stands twice among the
/// added fields both are sent. A field with a control character is never sent: the transport refuses the request with
/// ``TransportError/Code/invalidRequest``.
public struct HeadersInterceptor: Interceptor {
    /// Makes the fields of one request.
    public typealias Fields = @Sendable (HTTPRequest) async throws -> HTTPFields

    private enum Source: Sendable {
        case fixed(defaults: HTTPFields, forced: HTTPFields)
        case made(Fields, isForced: Bool)
    }

    private let source: Source

    /// The same fields for each request.
    ///
    /// - Parameters:
    ///   - defaults: for requests that have no field of the name.
    ///   - forced: in place of what a request has under the name, and of a default.
    public init(_ defaults: HTTPFields, forced: HTTPFields = HTTPFields()) {
        source = .fixed(defaults: defaults, forced: forced)
    }

    /// Fields that a closure makes for each request.
    ///
    /// - Parameters:
    ///   - overriding: whether they replace what a request has under their names; by default they don't.
    ///   - make: is given the request as it is here. What it throws the caller gets, and nothing is sent.
    public init(overriding: Bool = false, _ make: @escaping Fields) {
        source = .made(make, isForced: overriding)
    }

    /// Adds the fields, and passes the request on.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        switch source {
        case .fixed(let defaults, let forced):
            request.addDefaults(defaults)
            request.headerFields.override(with: forced)
        case .made(let make, let isForced):
            let fields = try await make(copy request)
            if isForced { request.headerFields.override(with: fields) } else { request.addDefaults(fields) }
        }
        return try await next(request)
    }
}

extension Interceptor where Self == HeadersInterceptor {
    /// Adds fields that a request's own value overrides, and forced ones that override it: see ``HeadersInterceptor``.
    public static func headers(_ defaults: HTTPFields, forced: HTTPFields = HTTPFields()) -> Self {
        Self(defaults, forced: forced)
    }

    /// Sets fields whatever a request has under their names: see ``HeadersInterceptor``.
    public static func headers(forced: HTTPFields) -> Self { Self(HTTPFields(), forced: forced) }

    /// Adds fields that a closure makes for each request: see ``HeadersInterceptor``.
    ///
    /// - Parameters:
    ///   - overriding: whether they replace what a request has under their names; by default they don't.
    ///   - make: is given the request as it is here. What it throws the caller gets, and nothing is sent.
    public static func headers(overriding: Bool = false, _ make: @escaping HeadersInterceptor.Fields) -> Self {
        Self(overriding: overriding, make)
    }
}
