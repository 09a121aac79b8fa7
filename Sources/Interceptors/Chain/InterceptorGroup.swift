/// Interceptors that act as one element of a chain, for every request or for some: see ``Interceptor/group(_:)`` and
/// ``Interceptor/when(_:_:)``.
public struct InterceptorGroup: Interceptor {
    let interceptors: [any Interceptor]
    let condition: RequestCondition?

    /// Passes a request that meets the condition through the group's interceptors, and any other straight to `next`.
    ///
    /// - Throws: the condition's error, before anything is sent.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if let condition, try !condition.isMet(by: copy request) { return try await next(request) }
        return try await Next(InterceptorLink.link(interceptors, before: next.link))(request)
    }
}

extension Interceptor where Self == InterceptorGroup {
    /// Several interceptors as one, for a part of a chain that several chains share.
    ///
    /// ```swift
    /// let resilient: any Interceptor = .group([.retry(), .timeout(.seconds(10))])
    /// let chain = InterceptorChain([.logging(.basic), resilient], transport: transport)
    /// ```
    public static func group(_ interceptors: [any Interceptor]) -> Self {
        InterceptorGroup(interceptors: interceptors, condition: nil)
    }

    /// Interceptors for the requests that meet a condition. The condition is checked each time a request arrives here: inside
    /// `followRedirects`, once for each hop.
    ///
    /// ```swift
    /// let chain = InterceptorChain(
    ///     [.when(.origin("https://api.example.com"), [.bearerAuth(tokens), .retry()])],
    ///     transport: transport
    /// )
    /// ```
    public static func when(_ condition: RequestCondition, _ interceptors: [any Interceptor]) -> Self {
        InterceptorGroup(interceptors: interceptors, condition: condition)
    }
}

/// Which requests a part of a chain is for.
public struct RequestCondition: Sendable {
    private let test: @Sendable (HTTPRequest) throws -> Bool

    /// Requests for which a closure returns `true`: `.when(.matching { $0.method == .post }, […])`.
    public static func matching(_ test: @escaping @Sendable (HTTPRequest) throws -> Bool) -> Self { Self(test: test) }

    /// Requests to one of these origins.
    public static func origin(_ origins: Origin...) -> Self {
        matching { request in Origin(request.url).map(origins.contains) ?? false }
    }

    /// Requests to the origin of a URL, such as `https://api.example.com`.
    ///
    /// If the text is no absolute http or https URL, every request fails with ``TransportError/Code/unsupportedURL`` before it
    /// is sent.
    public static func origin(_ url: String) -> Self {
        let origin = Result { try HTTPRequest(string: url) }.map { Origin($0.url) }
        return matching { request in try Origin(request.url) == origin.get() }
    }

    func isMet(by request: HTTPRequest) throws -> Bool { try test(request) }
}
