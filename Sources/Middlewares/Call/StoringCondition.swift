public import InterceptorsCore

/// A condition that a response must meet for a cache to store it. A class, so that adding it to a request copies a reference.
final class StoringCondition: Sendable {
    /// The content length, in bytes, from which the condition runs off the caller's actor.
    static let hopThreshold = 16 << 10

    private let test: @Sendable (HTTPResponse) -> Bool
    private let outer: StoringCondition?

    init(_ test: @escaping @Sendable (HTTPResponse) -> Bool, and outer: StoringCondition? = nil) {
        (self.test, self.outer) = (test, outer)
    }

    func isMet(by response: HTTPResponse) -> Bool { test(response) && (outer?.isMet(by: response) ?? true) }

    /// Both conditions. A single one, the usual case, is passed on as it is, without an allocation.
    func and(_ outer: StoringCondition?) -> StoringCondition {
        outer == nil ? self : StoringCondition(test, and: outer)
    }
}

extension HTTPContext {
    private enum StoringConditionKey: HTTPContextKey { static var defaultValue: StoringCondition? { nil } }

    /// On a request: what its response must meet for an inner cache to store it.
    var storingCondition: StoringCondition? {
        get { self[StoringConditionKey.self] }
        set { self[StoringConditionKey.self] = newValue }
    }

    /// On a request: adds a condition that the response must meet for an inner cache to store it.
    ///
    /// Call it in an interceptor that turns some successful responses into errors, so that a cache doesn't replay them:
    ///
    /// ```swift
    /// struct FailureFlag: Interceptor {
    ///     struct Failed: Error {}
    ///
    ///     func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
    ///         request.context.storeResponse { $0.headers["X-Failed"] == nil }
    ///         let response = try await next(request)
    ///         if response.headers.contains("X-Failed") { throw Failed() }
    ///         return response
    ///     }
    /// }
    /// ```
    /// The closure must not consume the body, but may read one that is in memory: `HTTPBody.data`. For content of 16 KiB
    /// or more, or of unknown length, the closure runs off the caller's actor.
    public mutating func storeResponse(onlyIf isMet: @escaping @Sendable (HTTPResponse) -> Bool) {
        storingCondition = StoringCondition(isMet, and: storingCondition)
    }
}
