/// An ordered array of interceptors in front of a transport. A chain is itself a transport, so chains nest.
///
/// The first interceptor is the outermost. With `[a, b]`, a request passes a, b, transport, and the response comes back
/// transport, b, a. The call stack grows with the chain's length: a chain isn't meant to hold thousands of interceptors.
public struct InterceptorChain: Transport {
    private final class Storage: Sendable {
        let interceptors: [any Interceptor]
        let transport: any Transport
        let observer: (any ChainObserver)?
        /// The client certificates that the transport presents.
        let identities: [CallerIdentity]
        let credentialFields: [HTTPField.Name]
        let first: Link

        init(interceptors: [any Interceptor], transport: any Transport, observer: (any ChainObserver)?) {
            self.interceptors = interceptors
            self.transport = transport
            self.observer = observer
            identities = Set(transport.identities).sorted().map { CallerIdentity("certificate", $0) }
            credentialFields = interceptors.credentialFields
            if let observer {
                let elements = interceptors.elements(observedBy: observer, beginChain: true)
                let end = TransportLink(observer.end(of: transport, isFirst: elements.isEmpty))
                first = InterceptorLink.link(elements, before: end)
            } else {
                first = InterceptorLink.link(interceptors.elements, before: TransportLink(transport))
            }
        }
    }

    private let storage: Storage

    /// Creates a chain.
    ///
    /// - Parameters:
    ///   - interceptors: the interceptors, outermost first.
    ///   - transport: the transport that the innermost interceptor calls.
    ///   - observer: watches the elements; by default none. A transport that is itself a chain or a client, and has no observer, is
    ///     watched with its elements.
    public init(_ interceptors: [any Interceptor], transport: any Transport, observer: (any ChainObserver)? = nil) {
        storage = Storage(interceptors: interceptors, transport: transport, observer: observer)
    }

    /// The chain's observer, if any.
    var observer: (any ChainObserver)? { storage.observer }

    /// The interceptors, outermost first.
    public var interceptors: [any Interceptor] { storage.interceptors }

    /// The transport that the innermost interceptor calls.
    public var transport: any Transport { storage.transport }

    /// Sends a request through all interceptors to the transport.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        for identity in storage.identities where !request.context.callerIdentities.contains(identity) {
            request.context.callerIdentities.append(identity)
        }
        if !storage.credentialFields.isEmpty { request.context.credentialFields += storage.credentialFields }
        return try await Next(storage.first)(request)
    }
}

/// A transport that passes requests through a chain, so that an outer chain's findings and observer see its elements too.
protocol ChainedTransport: Transport {
    var chain: InterceptorChain { get }

    /// The same transport with another chain.
    func with(_ chain: InterceptorChain) -> Self
}

extension InterceptorChain: ChainedTransport {
    var chain: InterceptorChain { self }
    func with(_ chain: InterceptorChain) -> Self { chain }
}

extension InterceptorChain: ForwardingTransport {
    package var targets: [any Transport]? { [transport] }
}

extension InterceptorChain {
    /// The names of the elements, outermost first, without their settings: `logging → retry → bearerAuth → CurlTransport`.
    public var names: String {
        let names = interceptors.map(Self.name)
        let end = (transport as? any ChainedTransport)?.chain.names ?? "\(type(of: transport))"
        return (names + [end]).joined(separator: " → ")
    }

    // The type's name as a chain spells the element: `RetryInterceptor` is `retry`.
    static func name(_ interceptor: any Interceptor) -> String {
        let interceptor = interceptor.unwrapped
        if let group = interceptor as? InterceptorGroup {
            let elements = "[\(group.interceptors.map(name).joined(separator: " → "))]"
            return group.condition == nil ? elements : "when \(elements)"
        }
        if interceptor is ClosureInterceptor { return "intercept" }
        if let named = interceptor as? any NamedInterceptor { return named.name }
        let type = "\(type(of: interceptor))"
        guard type.hasSuffix("Interceptor"), type.count > "Interceptor".count else { return type }
        let name = type.dropLast("Interceptor".count)
        return name.prefix(1).lowercased() + name.dropFirst()
    }
}

/// An interceptor whose type doesn't tell its name.
protocol NamedInterceptor: Interceptor {
    var name: String { get }
}

/// One node of a chain's immutable linked list: an interceptor with everything inside it, or the transport at the end.
///
/// `Next` holds a single reference to a link, so passing it on allocates nothing. Links never change, so a hop neither copies
/// the interceptor nor counts references.
@usableFromInline class Link: @unchecked Sendable {
    // `isEnd` tells the two subclasses apart in less time than a cast. `@unchecked Sendable` is safe although the compiler
    // can't check subclasses: both are in this file and hold only `let` constants of `Sendable` types.
    @usableFromInline let isEnd: Bool

    fileprivate init(isEnd: Bool) { self.isEnd = isEnd }
}

@usableFromInline final class InterceptorLink: Link, @unchecked Sendable {
    @usableFromInline let interceptor: any Interceptor
    @usableFromInline let rest: Link

    init(_ interceptor: any Interceptor, before rest: Link) {
        self.interceptor = interceptor
        self.rest = rest
        super.init(isEnd: false)
    }

    /// Links interceptors in their order.
    static func link(_ elements: [any Interceptor], before rest: Link) -> Link {
        elements.reversed().reduce(rest) { InterceptorLink($1, before: $0) }
    }
}

@usableFromInline final class TransportLink: Link, @unchecked Sendable {
    @usableFromInline let transport: any Transport

    init(_ transport: any Transport) {
        self.transport = transport
        super.init(isEnd: true)
    }
}

private struct ClosureTransport: Transport {
    let send: @Sendable (HTTPRequest) async throws -> HTTPResponse

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await send(request) }
}

// Frozen, so that hops are inlined under library evolution too: `Next` will only ever hold one reference.
/// The rest of a chain, as one interceptor sees it.
///
/// Call `next` any number of times, in sequence or concurrently from child tasks. Each call runs the whole rest of the chain.
/// You may keep `next`, and call it after `intercept` has returned or from another task. A `Next` holds only the rest of the
/// chain, nothing of the call.
@frozen public struct Next: Sendable {
    @usableFromInline let link: Link

    @inlinable init(_ link: Link) { self.link = link }

    /// Uses a closure as the rest of a chain, so that a test can call an interceptor by itself.
    ///
    /// ```swift
    /// let language: some Interceptor = .headers([.acceptLanguage: "en"])
    /// let response = try await language.intercept(HTTPRequest(url: url), next: Next { request in
    ///     #expect(request.headers[.acceptLanguage] == "en")
    ///     return HTTPResponse(status: 204)
    /// })
    /// ```
    public init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        link = TransportLink(ClosureTransport(send: send))
    }

    /// The rest of the chain with one more interceptor in front of it.
    public func preceded(by interceptor: any Interceptor) -> Next { Next(InterceptorLink(interceptor, before: link)) }

    // Inlined into interceptors of other modules, a hop is one async call instead of two, and a third cheaper.
    /// Sends a request through the rest of the chain.
    @inlinable @inline(__always)
    public func callAsFunction(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        if link.isEnd {
            try request.requireSeenCredentials()
            let transport = unsafeDowncast(link, to: TransportLink.self).transport
            guard let witness = request.redirectWitness else { return try await transport.send(request) }
            return try await witness.send(request, over: transport)
        }
        let link = unsafeDowncast(link, to: InterceptorLink.self)
        return try await link.interceptor.intercept(request, next: Next(link.rest))
    }
}
