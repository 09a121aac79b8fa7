/// The implementation of `.group(…)` and `.when(…)`, documented there.
struct InterceptorGroup: Interceptor {
    /// The interceptors as they were given.
    let interceptors: [any Interceptor]
    let condition: RequestCondition?
    /// The interceptors to link for a request that meets the condition.
    let elements: [any Interceptor]
    /// The conditions of the parts around this one that are checked again before each element.
    private let outer: [RequestCondition]

    /// The same group with an observer around each element.
    func observed(by observer: any ChainObserver) -> Self {
        Self(interceptors, if: condition, inside: outer, observer: observer)
    }

    init(
        _ interceptors: [any Interceptor],
        if condition: RequestCondition? = nil,
        inside outer: [RequestCondition] = [],
        observer: (any ChainObserver)? = nil
    ) {
        self.interceptors = interceptors
        self.condition = condition
        self.outer = outer
        let repeated = outer + [condition].compactMap(\.self).filter(\.isOfEachElement)
        // A redirect followed inside a part in this part must not reach that part's later elements either.
        let inner = interceptors.elements.map { element in
            guard let part = element as? Self else { return element }
            return Self(part.interceptors, if: part.condition, inside: repeated)
        }
        let linked = observer.map { inner.elements(observedBy: $0, beginChain: false) } ?? inner
        elements = repeated.isEmpty ? linked : linked.map { Self.guarded($0, by: repeated) }
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if let condition, try !condition.isMet(by: copy request) { return try await next(request) }
        return try await Next(InterceptorLink.link(elements, before: next.link))(request)
    }

    /// An element that is skipped for a request that no longer meets the conditions, such as a redirect made in this group.
    private static func guarded(_ element: any Interceptor, by conditions: [RequestCondition]) -> any Interceptor {
        ClosureInterceptor { request, next in
            for condition in conditions where try !condition.isMet(by: request) { return try await next(request) }
            return try await element.intercept(request, next: next)
        }
    }
}

extension [any Interceptor] {
    /// The interceptors to link: without the wrappers that hide their types, and each group without a condition as its
    /// elements. Each of these would cost a hop.
    var elements: Self {
        flatMap { interceptor in
            let interceptor = interceptor.unwrapped
            guard let group = interceptor as? InterceptorGroup, group.condition == nil else { return [interceptor] }
            return group.elements
        }
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Several interceptors as one, for a part of a chain that several chains share.
    ///
    /// ```swift
    /// let resilient: any Interceptor = .group([.retry(), .timeout(.seconds(10))])
    /// let chain = InterceptorChain([.logging(.basic), resilient], transport: transport)
    /// ```
    public static func group(_ interceptors: [any Interceptor]) -> Self {
        Self(InterceptorGroup(interceptors))
    }

    /// Interceptors for the requests that meet a condition. Any other request skips them.
    ///
    /// The condition is checked each time a request arrives here: inside `followRedirects`, once for each hop. An origin is
    /// checked again before each element, so that a redirect followed inside the part carries nothing to another origin. If the
    /// condition throws, the call fails with its error before anything is sent.
    ///
    /// ```swift
    /// let chain = InterceptorChain(
    ///     [.when(.origin("https://api.example.com"), [.bearerAuth(tokens), .retry()])],
    ///     transport: transport
    /// )
    /// ```
    public static func when(_ condition: RequestCondition, _ interceptors: [any Interceptor]) -> Self {
        Self(InterceptorGroup(interceptors, if: condition))
    }
}

/// Which requests a part of a chain is for.
public struct RequestCondition: Sendable {
    private let test: @Sendable (HTTPRequest) throws -> Bool
    /// Whether each element of the part checks the condition again.
    let isOfEachElement: Bool
    /// The only origins whose requests meet the condition; `nil` if any may.
    var origins: Set<Origin>?

    /// Requests for which a closure returns `true`: `.when(.matching { $0.method == .post }, […])`.
    public static func matching(_ test: @escaping @Sendable (HTTPRequest) throws -> Bool) -> Self {
        Self(test: test, isOfEachElement: false)
    }

    /// Requests to one of these origins.
    public static func origin(_ origins: Origin...) -> Self {
        Self(
            test: { Origin($0.url).map(origins.contains) ?? false },
            isOfEachElement: true,
            origins: Set(origins)
        )
    }

    /// Requests to the origin of a URL, such as `https://api.example.com`.
    ///
    /// If the text is no absolute http or https URL, every request fails with `TransportError.unsupportedURL` before it
    /// is sent.
    public static func origin(_ url: String) -> Self {
        let origin = Result { try HTTPRequest(string: url) }.map { Origin($0.url) }
        return Self(
            test: { try Origin($0.url) == origin.get() },
            isOfEachElement: true,
            origins: (try? origin.get()).map { [$0] }
        )
    }

    func isMet(by request: HTTPRequest) throws -> Bool { try test(request) }
}
