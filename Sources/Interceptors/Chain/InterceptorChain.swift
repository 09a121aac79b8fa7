/// An ordered array of interceptors before a transport; itself a transport, so that chains nest.
///
/// The first interceptor is the outermost. With `[a, b]`, a request goes a, b, transport, and its response comes back
/// transport, b, a.
public struct InterceptorChain: Transport {
    // One reference, so that handing the rest of a chain to an interceptor is a pointer and an index: no allocation.
    @usableFromInline final class Storage: Sendable {
        @usableFromInline let interceptors: [any Interceptor]
        @usableFromInline let transport: any Transport

        init(interceptors: [any Interceptor], transport: any Transport) {
            self.interceptors = interceptors
            self.transport = transport
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
        try await Next(chain: storage, index: 0)(request)
    }
}

/// The rest of a chain, as one interceptor sees it.
///
/// It can be called any number of times, one after the other or at once from child tasks; each call is a run of its own
/// through all that is left.
public struct Next: Sendable {
    @usableFromInline let chain: InterceptorChain.Storage
    @usableFromInline let index: Int

    @inlinable init(chain: InterceptorChain.Storage, index: Int) {
        self.chain = chain
        self.index = index
    }

    // Inlined into the interceptors of other modules, a hop is one async call instead of two, and a third cheaper.
    /// Sends a request through the rest of the chain.
    @inlinable @inline(__always)
    public func callAsFunction(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        guard index < chain.interceptors.count else { return try await chain.transport.send(request) }
        return try await chain.interceptors[index].intercept(request, next: Next(chain: chain, index: index + 1))
    }
}
