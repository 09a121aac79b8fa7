/// An ordered array of interceptors before a transport; itself a transport, so that chains nest.
///
/// The first interceptor is the outermost. With `[a, b]`, a request goes a, b, transport, and its response comes back
/// transport, b, a. A call goes as deep as the chain is long, and so does its end: chains of thousands are not meant.
public struct InterceptorChain: Transport {
    private final class Storage: Sendable {
        let interceptors: [any Interceptor]
        let transport: any Transport
        let first: Link

        init(interceptors: [any Interceptor], transport: any Transport) {
            self.interceptors = interceptors
            self.transport = transport
            first = interceptors.reversed().reduce(TransportLink(transport)) { InterceptorLink($1, before: $0) }
        }
    }

    private let storage: Storage

    /// A chain.
    ///
    /// - Parameters:
    ///   - interceptors: the outermost first.
    ///   - transport: what the innermost calls.
    public init(_ interceptors: [any Interceptor], transport: any Transport) {
        storage = Storage(interceptors: interceptors, transport: transport)
    }

    /// The interceptors, the outermost first.
    public var interceptors: [any Interceptor] { storage.interceptors }

    /// What the innermost interceptor calls.
    public var transport: any Transport { storage.transport }

    /// Sends a request through all interceptors to the transport.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        try await Next(storage.first)(request)
    }
}

/// An interceptor with all that is inside of it, or the transport at the end.
///
/// What is handed to an interceptor is one reference, which allocates nothing. And since nothing that it leads to ever
/// changes, neither has an interceptor to be copied for the time of its call, nor the reference to be counted.
@usableFromInline class Link: @unchecked Sendable {
    // What tells the two subclasses apart, in less time than a cast. `@unchecked Sendable`, since the compiler can't check what
    // subclasses add: both are here, and they have constants of sendable types alone.
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
}

@usableFromInline final class TransportLink: Link, @unchecked Sendable {
    @usableFromInline let transport: any Transport

    init(_ transport: any Transport) {
        self.transport = transport
        super.init(isEnd: true)
    }
}

// Frozen, so that a hop is inlined under library evolution, too: one reference is all that it ever holds.
/// The rest of a chain, as one interceptor sees it.
///
/// It can be called any number of times, one after the other or at once from child tasks; each call is a run of its own
/// through all that is left.
@frozen public struct Next: Sendable {
    @usableFromInline let link: Link

    @inlinable init(_ link: Link) { self.link = link }

    // Inlined into the interceptors of other modules, a hop is one async call instead of two, and a third cheaper.
    /// Sends a request through the rest of the chain.
    @inlinable @inline(__always)
    public func callAsFunction(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        if link.isEnd {
            try request.requireSeenCredentials()
            return try await unsafeDowncast(link, to: TransportLink.self).transport.send(request)
        }
        let link = unsafeDowncast(link, to: InterceptorLink.self)
        return try await link.interceptor.intercept(request, next: Next(link.rest))
    }
}
