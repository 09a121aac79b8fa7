/// One step of a chain. It sees each request on the way down and the response on the way up.
///
/// ## Choose one
/// The module `InterceptorsMiddlewares` has ready-made interceptors, each as a static member: `.headers(…)`, `.logging(.body)`.
///
/// ## Use one
/// The first interceptor of an array is the outermost: it sees a request first and the response last.
///
/// ```swift
/// let chain = InterceptorChain([.logging(.basic), .bearerAuth(tokens)], transport: transport)
/// ```
/// In a variable, the array needs its type: `let chain: [any Interceptor] = [.retry(maxAttempts: 3), .logging()]`.
///
/// Here the log shows the call as the caller made it, because the token is added further inside. In the other order, the log
/// would also show the token's field (redacted).
///
/// ## Implement one
/// Write one method. Change the request, call `next`, look at the response:
///
/// ```swift
/// struct LanguageInterceptor: Interceptor {
///     let language: String
///
///     func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
///         request.headers[.acceptLanguage] = language
///         return try await next(request)
///     }
/// }
/// ```
/// An interceptor may skip `next` (to answer without the network), call it once, or call it several times. Each call runs the
/// rest of the chain. An interceptor is a value that holds no state of any single request. Keep state that requests share in an
/// actor or behind a `Mutex`.
///
/// ## Leave `consuming` out
/// `consuming` saves a copy in a method that changes the request and passes it on once. Leave `consuming` out when the method
/// needs the request again after `next`, or mentions it in a closure, a child task, `&&`, `||` or `??`. The request is then an
/// ordinary constant. Compilers on Apple platforms refuse to capture a consuming parameter, even in a list such as `[request]`;
/// on Linux the same code may compile.
///
/// The article *Writing interceptors*, in the documentation of `InterceptorsMiddlewares`, shows how to call `next` twice, to send from child
/// tasks, to change a stream, to work on the main actor, and to test an interceptor.
///
/// ## Add a credential
/// An interceptor that adds a credential first calls ``InterceptorsTransport/HTTPRequest/identifyCaller(by:as:)``, so that no cache mixes
/// users.
///
/// ## Declare the place
/// An interceptor that conforms to ``PlacedInterceptor`` declares its roles, so that ``InterceptorChain/findings`` can judge its
/// place.
public protocol Interceptor: Sendable {
    /// Handles one request: passes it on to `next` or returns a response without it.
    ///
    /// - Parameters:
    ///   - request: the request as the outer interceptors left it.
    ///   - next: the rest of the chain, including the transport.
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse
}

/// The implementation of `.intercept { … }`, documented there.
struct ClosureInterceptor: Interceptor {
    let body: @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await body(&request, next)
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// An interceptor made from a closure, for a step too small to need a type:
    ///
    /// ```swift
    /// .intercept { request, next in
    ///     request.headers["X-App-Version"] = "1.2"
    ///     let response = try await next(request)
    ///     print(response.status)
    ///     return response
    /// }
    /// ```
    /// A closure that needs the request in a child task first copies it: `let request = request`.
    ///
    /// ``InterceptorChain/findings`` don't judge a closure's place, unless it declares one:
    /// ``Interceptor/intercept(_:placement:_:)``.
    public static func intercept(
        _ body: @escaping @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse
    ) -> Self {
        Self(ClosureInterceptor(body: body))
    }
}
