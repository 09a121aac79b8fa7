/// One step of a chain. It sees each request on the way down and the response on the way up.
///
/// ## Choose one
/// The module `Middlewares` has ready-made interceptors, each as a static member: `.headers(…)`, `.logging(.body)`.
///
/// ## Use one
/// The first interceptor of an array is the outermost: it sees a request first and the response last.
///
/// ```swift
/// let chain = InterceptorChain([.logging(.basic), .bearerAuth(tokens)], transport: transport)
/// ```
/// In a variable, the array needs its type: `let chain: [any Interceptor] = [.retry(3), .logging()]`.
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
///         request.headerFields[.acceptLanguage] = language
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
/// **Call `next` twice.** Discard the body of any response that you don't return (`HTTPBody.discard()`):
///
/// ```swift
/// struct OnceMoreInterceptor: Interceptor {
///     func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
///         let response = try await next(request)
///         guard response.status == 503 && request.method.isSafe else { return response }
///         response.body.discard()
///         return try await next(request)
///     }
/// }
/// ```
/// A method that stays `consuming` passes a copy first: `try await next(copy request)`.
///
/// **Send from a child task.** `next` and a request that isn't `consuming` can cross into any task. Wait for the tasks that
/// you cancel, because one of them may return a response, and discard its body:
///
/// ```swift
/// struct FasterOfTwoInterceptor: Interceptor {
///     func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
///         guard request.method.isSafe else { return try await next(request) }
///         return try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
///             for _ in 0..<2 { group.addTask { try await next(request) } }
///             guard let first = await group.nextResult() else { throw CancellationError() }
///             group.cancelAll()
///             if case .success(let later)? = await group.nextResult() { later.body.discard() }
///             return try first.get()
///         }
///     }
/// }
/// ```
///
/// **Work on the main actor.** The method may be isolated. The main actor stays free while `next` runs:
///
/// ```swift
/// @MainActor final class Activity {
///     var count = 0
/// }
///
/// struct ActivityInterceptor: Interceptor {
///     let activity: Activity
///
///     @MainActor func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
///         activity.count += 1
///         defer { activity.count -= 1 }
///         return try await next(request)
///     }
/// }
/// ```
///
/// **Make it an actor.** Other requests enter while one waits for `next`, so state read before the call may have changed after
/// it:
///
/// ```swift
/// actor OriginCounter: Interceptor {
///     private(set) var counts: [String: Int] = [:]
///
///     func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
///         counts[request.url.host() ?? "", default: 0] += 1
///         return try await next(request)
///     }
/// }
/// ```
///
/// ## Add a credential
/// An interceptor that adds a credential first calls ``Transport/HTTPRequest/identifyCaller(by:as:)``, so that no cache mixes users.
/// ``ResponseSharing`` shows how.
public protocol Interceptor: Sendable {
    /// Handles one request: passes it on to `next` or returns a response without it.
    ///
    /// - Parameters:
    ///   - request: the request as the outer interceptors left it.
    ///   - next: the rest of the chain, including the transport.
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse
}

/// An interceptor made from a closure.
public struct ClosureInterceptor: Interceptor {
    private let body: @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse

    /// Creates an interceptor that runs the closure for each request. The closure may change the request.
    public init(_ body: @escaping @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse) {
        self.body = body
    }

    /// Runs the closure.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await body(&request, next)
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// An interceptor made from a closure, for a step too small to need a type:
    ///
    /// ```swift
    /// .intercept { request, next in
    ///     request.headerFields["X-App-Version"] = "1.2"
    ///     let response = try await next(request)
    ///     print(response.status)
    ///     return response
    /// }
    /// ```
    /// A closure that needs the request in a child task first copies it: `let request = request`.
    public static func intercept(
        _ body: @escaping @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse
    ) -> Self {
        Self(body)
    }
}
