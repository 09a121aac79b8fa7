/// One step of a chain: it sees each request on its way down and its response on the way up.
///
/// ## Choose one
/// The module `Middlewares` has the everyday ones, each a static member: `.headers(…)`, `.logging(.body)`.
///
/// ## Use one
/// The first of an array is the outermost: it meets a request first and its response last.
///
/// ```swift
/// let chain = InterceptorChain([.logging(.basic), .bearerAuth(tokens)], transport: transport)
/// ```
/// Here the log shows the call as the caller made it, and the token is added below it; the other way round, the log
/// would show the token's field (redacted) too.
///
/// ## Implement one
/// One method. Change the request, call `next`, look at the response:
///
/// ```swift
/// struct LanguageInterceptor: Interceptor {
///     let language: String
///
///     func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
///         request.headerFields[.acceptLanguage] = language
///         return try await next(request)
///     }
/// }
/// ```
/// `next` may be left out (to answer without the network), called once, or called again and again: each call runs the
/// rest of the chain anew. To keep the request for a second call, pass on a copy: `try await next(copy request)`. A
/// response that is not returned has its body discarded: ``HTTPBody/discard()``.
///
/// An interceptor is a value without state of any one request; what its requests share is an actor or a `Mutex`.
///
/// One that adds a credential calls ``HTTPRequest/requireUnshared(by:changesEachTime:)`` first, so that no cache outside
/// of it mixes users: ``ResponseSharing`` shows how.
public protocol Interceptor: Sendable {
    /// Handles one request: passes it on to `next`, or answers it.
    ///
    /// - Parameters:
    ///   - request: the request as the interceptors outside this one have left it.
    ///   - next: the rest of the chain, the transport included.
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse
}

/// An interceptor made of a closure.
public struct ClosureInterceptor: Interceptor {
    private let body: @Sendable (HTTPRequest, Next) async throws -> HTTPResponse

    /// An interceptor that does what the closure does.
    public init(_ body: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPResponse) {
        self.body = body
    }

    /// Runs the closure.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await body(request, next)
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// An interceptor made of a closure, for one too small to name.
    ///
    /// ```swift
    /// .intercept { request, next in
    ///     let response = try await next(request)
    ///     print(response.status)
    ///     return response
    /// }
    /// ```
    public static func intercept(
        _ body: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPResponse
    ) -> Self {
        Self(body)
    }
}
