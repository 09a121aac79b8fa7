public import InterceptorsCore

/// A condition that a response must meet for a cache to store it. A class, so that adding it to a request copies a reference.
final class StoringCondition: Sendable {
    /// The content length, in bytes, from which the condition runs off the caller's actor.
    static let hopThreshold = 16 << 10

    let isMet: @Sendable (HTTPResponse) -> Bool

    init(_ isMet: @escaping @Sendable (HTTPResponse) -> Bool) { self.isMet = isMet }
}

extension HTTPContext {
    private enum StoringConditionsKey: HTTPContextKey {
        static var defaultValue: InlineArray1<StoringCondition> { .init() }
    }

    /// On a request: the conditions that its response must meet for an inner cache to store it.
    var storingConditions: InlineArray1<StoringCondition> {
        get { self[StoringConditionsKey.self] }
        set { self[StoringConditionsKey.self] = newValue }
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
    ///         request.context.storeResponse { $0.headerFields["X-Failed"] == nil }
    ///         let response = try await next(request)
    ///         if response.headerFields.contains("X-Failed") { throw Failed() }
    ///         return response
    ///     }
    /// }
    /// ```
    /// The closure must not consume the body, but may read one that is in memory: `HTTPBody.bytes`. For content of 16 KiB
    /// or more, or of unknown length, the closure runs off the caller's actor.
    public mutating func storeResponse(onlyIf isMet: @escaping @Sendable (HTTPResponse) -> Bool) {
        storingConditions.append(StoringCondition(isMet))
    }
}
