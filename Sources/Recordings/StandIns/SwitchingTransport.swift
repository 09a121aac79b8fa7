public import InterceptorsCore
internal import Synchronization

/// A transport that sends requests over one of several others, chosen at run time for all calls or for one.
///
/// ```swift
/// let switching: SwitchingTransport = .switching(remote: .platform(), local: StubTransport())
/// let api = Client(baseURL: url, interceptors: chain, transport: switching)
///
/// switching.source = .local                                                       // from the next request on
/// let user: User = try await api.get("/users/42", context: .with(\.source, .remote))   // for this call only
/// ```
/// If a client was made with `transport: .switching(…)`, `client.chain.transport as? SwitchingTransport` is the switch.
///
/// A switch changes where requests go from now on. A response that is still streamed continues from its earlier source, and a
/// call that is repeated may get its next attempt from the new one. Interceptors don't notice: a cache in the chain keeps the
/// responses of all sources under the same URLs, so clear it after switching, or place it in the chain of one source. A chain is a
/// transport too.
///
/// In a journal, the note of this transport names the source.
public final class SwitchingTransport: Transport {
    /// The name of a transport. An open set: declare names of further ones.
    ///
    /// ```swift
    /// extension SwitchingTransport.Source {
    ///     static let beta = Self(rawValue: "beta")
    /// }
    /// ```
    public struct Source: OpenSet {
        /// The name, such as `remote`.
        public let rawValue: String
        /// Creates a source from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A server.
        public static let remote = Self(rawValue: "remote")
        /// Answers on this machine.
        public static let local = Self(rawValue: "local")
    }

    private let transports: [Source: any Transport]
    private let current: Mutex<Source>

    /// Creates a transport with any number of sources.
    ///
    /// - Parameters:
    ///   - transports: the transports by their names.
    ///   - source: the source at first.
    public init(_ transports: [Source: any Transport], source: Source) {
        self.transports = transports
        current = Mutex(source)
    }

    /// The source of requests whose context names none. May be read and changed from any thread.
    ///
    /// If there is no transport of that name, each request fails with `HTTPErrorCode.unsupported`, and isn't sent.
    public var source: Source {
        get { current.withLock(\.self) }
        set { current.withLock { $0 = newValue } }
    }

    /// Sends a request over the transport of its source.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unsupported` if no transport has the source's name. Rethrows errors of the
    ///   transport.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let source = request.context.source ?? self.source
        guard let transport = transports[source] else {
            let names = transports.keys.map(\.rawValue).sorted().joined(separator: ", ")
            throw TransportError(
                .unsupported,
                "There is no source \"\(PrintableText.line(source.rawValue))\" to switch to, only: \(names).",
                request: request
            )
        }
        request.note(CallNote("source", "\(source): \(type(of: transport))"))
        return try await transport.send(request)
    }
}

extension SwitchingTransport: ForwardingTransport {
    package var targets: [any Transport]? { Array(transports.values) }
}

extension HTTPContext {
    private enum SourceKey: HTTPContextKey { static var defaultValue: SwitchingTransport.Source? { nil } }

    /// On a request: the source that a ``SwitchingTransport`` uses for this call; `nil` for its ``SwitchingTransport/source``.
    ///
    /// An interceptor that shares responses between equal requests doesn't see the source. Tell `coalesce` about it:
    /// `.coalesce(apart: { $0.context.source?.rawValue })`. Give each source a cache, or bypass the cache.
    public var source: SwitchingTransport.Source? {
        get { self[SourceKey.self] }
        set { self[SourceKey.self] = newValue }
    }
}

extension Transport where Self == SwitchingTransport {
    /// Two transports to choose from at run time, at first the remote one: see ``SwitchingTransport``.
    ///
    /// - Parameters:
    ///   - remote: the transport named `remote`.
    ///   - local: the transport named `local`.
    public static func switching(remote: any Transport, local: any Transport) -> Self {
        SwitchingTransport([.remote: remote, .local: local], source: .remote)
    }
}
