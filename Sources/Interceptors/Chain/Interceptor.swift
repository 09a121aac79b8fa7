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
/// An interceptor may leave `next` out (to answer without the network), call it once, or call it several times: each call
/// runs the rest of the chain. An interceptor is a value without state of any one request; what its requests share is an
/// actor or a `Mutex`.
///
/// ## Leave `consuming` out
/// `consuming` saves a copy in a method that changes the request and passes it on once. Leave it out as soon as the method
/// needs the request again after `next`, or mentions it in a closure, a child task, `&&`, `||` or `??`. The request is
/// then an ordinary constant. Apple's compilers refuse to capture a consuming parameter, in a list such as `[request]` too;
/// on Linux the same code may compile.
///
/// **Call `next` twice.** Discard the body of a response that you don't return (``HTTPBody/discard()``):
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
/// A method that stays `consuming` passes on a copy first: `try await next(copy request)`.
///
/// **Send it from a child task.** `next` and a request that isn't `consuming` can cross into any task:
///
/// ```swift
/// struct FasterOfTwoInterceptor: Interceptor {
///     func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
///         guard request.method.isSafe else { return try await next(request) }
///         return try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
///             for _ in 0..<2 { group.addTask { try await next(request) } }
///             defer { group.cancelAll() }
///             guard let first = try await group.next() else { throw CancellationError() }
///             return first
///         }
///     }
/// }
/// ```
///
/// **Work on the main actor.** The method may be isolated; while `next` runs, the main actor is free:
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
/// **Make it an actor.** While one request waits for `next`, others enter: state that was read before may have changed:
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
/// An interceptor that adds a credential calls ``HTTPRequest/identifyCaller(by:as:)`` first, so that no cache mixes users:
/// ``ResponseSharing`` shows how.
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
