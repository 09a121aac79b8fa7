internal import Logging
internal import NIOCore
internal import Synchronization

/// Learns which HTTP/1 connection a request is sent on.
///
/// AsyncHTTPClient tells it only to the request's logger, as metadata. If that changes, no connection counts as used before, and
/// no request is sent again.
final class ConnectionWatch: Sendable {
    private let connections: UsedConnections
    private let onConnection: @Sendable () -> Void
    private let wasUsed = Atomic(false)
    private let isKnown = Atomic(false)

    init(_ connections: UsedConnections, onConnection: @escaping @Sendable () -> Void) {
        self.connections = connections
        self.onConnection = onConnection
    }

    /// Whether the connection carried another request before.
    var isReused: Bool { wasUsed.load(ordering: .acquiring) }

    /// Whether no connection took the request. A connection that was closed in the pool fails it so.
    func refused(with error: any Error) -> Bool {
        !isKnown.load(ordering: .acquiring) && error as? ChannelError == .ioOnClosedChannel
    }

    fileprivate func sent(on id: String) {
        if connections.use(id) { wasUsed.store(true, ordering: .releasing) }
        isKnown.store(true, ordering: .releasing)
        onConnection()
    }

    /// A logger that writes nothing.
    var logger: Logger { Logger(label: "connection") { _ in Handler(watch: self) } }

    private struct Handler: LogHandler {
        let watch: ConnectionWatch
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.critical

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set {
                metadata[key] = newValue
                if key == "ahc-connection-id", let newValue { watch.sent(on: "\(newValue)") }
            }
        }

        func log(event: LogEvent) {}
    }
}
