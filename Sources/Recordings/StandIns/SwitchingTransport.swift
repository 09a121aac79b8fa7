internal import Synchronization

/// A transport that sends requests over one of several others, chosen at run time.
///
/// ```swift
/// let switching = SwitchingTransport(["remote": .platform(), "local": StubTransport()], source: "remote")
/// let api = Client(baseURL: url, interceptors: chain, transport: switching)
///
/// switching.source = "local"          // from the next request on
/// ```
/// If the client is all that a menu has, `client.chain.transport as? SwitchingTransport` is the switch.
///
/// A switch changes where requests go from now on. A response that is still streamed continues from its earlier source, and a
/// call that is repeated may get its next attempt from the new one. Interceptors don't notice: a cache in the chain keeps the
/// responses of all sources under the same URLs, so clear it after switching, or place it in the chain of one source. A chain is a
/// transport too.
///
/// In a journal, the note of this transport names the source.
public final class SwitchingTransport: Transport {
    private let transports: [String: any Transport]
    private let current: Mutex<String>

    /// Creates a transport with any number of sources.
    ///
    /// - Parameters:
    ///   - transports: the transports by their names.
    ///   - source: the name of the source at first.
    public init(_ transports: [String: any Transport], source: String) {
        self.transports = transports
        current = Mutex(source)
    }

    /// The name of the transport that requests go over. May be read and changed from any thread.
    ///
    /// If there is no transport of that name, each request fails with `HTTPErrorCode.unsupported`, and isn't sent.
    public var source: String {
        get { current.withLock(\.self) }
        set { current.withLock { $0 = newValue } }
    }

    /// Sends a request over the transport of the source.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unsupported` if no transport has the source's name. Rethrows errors of the
    ///   transport.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let source = source
        guard let transport = transports[source] else {
            let names = transports.keys.sorted().joined(separator: ", ")
            let reason = "There is no source \"\(PrintableText.line(source))\" to switch to, only: \(names)."
            throw TransportError(.unsupported, reason, request: request)
        }
        request.note(CallNote("source", "\(source): \(type(of: transport))"))
        return try await transport.send(request)
    }
}

extension SwitchingTransport: ForwardingTransport {
    package var targets: [any Transport]? { Array(transports.values) }
}
