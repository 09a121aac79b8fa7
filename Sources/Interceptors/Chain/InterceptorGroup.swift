/// Interceptors that act as one element of a chain, for every request or for some: see ``Interceptor/group(_:)`` and
/// ``Interceptor/when(_:_:)``.
public struct InterceptorGroup: Interceptor {
    let interceptors: [any Interceptor]
    let condition: RequestCondition?

    /// Passes a request that meets the condition through the group's interceptors, and any other straight to `next`.
    ///
    /// - Throws: the condition's error, before anything is sent.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let condition else {
            return try await Next(InterceptorLink.link(interceptors, before: next.link))(request)
        }
        guard try condition.isMet(by: copy request) else { return try await next(request) }
        let elements = condition.isOfEachElement ? interceptors.map { guarded($0, by: condition) } : interceptors
        return try await Next(InterceptorLink.link(elements, before: next.link))(request)
    }

    /// An element that is skipped for a request that no longer meets the condition, such as a redirect made in this group.
    private func guarded(_ element: any Interceptor, by condition: RequestCondition) -> any Interceptor {
        if let group = element as? InterceptorGroup, group.condition == nil {
            return InterceptorGroup(interceptors: group.interceptors.map { guarded($0, by: condition) }, condition: nil)
        }
        return ClosureInterceptor { request, next in
            guard try condition.isMet(by: request) else { return try await next(request) }
            return try await element.intercept(request, next: next)
        }
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
    /// `followRedirects`, once for each hop. An origin is checked again before each element, so that a redirect followed inside
    /// the part carries nothing to another origin.
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
    /// Whether each element of the part checks the condition again.
    let isOfEachElement: Bool

    /// Requests for which a closure returns `true`: `.when(.matching { $0.method == .post }, […])`.
    public static func matching(_ test: @escaping @Sendable (HTTPRequest) throws -> Bool) -> Self {
        Self(test: test, isOfEachElement: false)
    }

    /// Requests to one of these origins.
    public static func origin(_ origins: Origin...) -> Self {
        Self(test: { Origin($0.url).map(origins.contains) ?? false }, isOfEachElement: true)
    }

    /// Requests to the origin of a URL, such as `https://api.example.com`.
    ///
    /// If the text is no absolute http or https URL, every request fails with `TransportError.unsupportedURL` before it
    /// is sent.
    public static func origin(_ url: String) -> Self {
        let origin = Result { try HTTPRequest(string: url) }.map { Origin($0.url) }
        return Self(test: { try Origin($0.url) == origin.get() }, isOfEachElement: true)
    }

    func isMet(by request: HTTPRequest) throws -> Bool { try test(request) }
}
