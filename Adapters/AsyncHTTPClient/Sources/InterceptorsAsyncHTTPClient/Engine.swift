internal import AsyncHTTPClient
internal import NIOCore
internal import Synchronization

/// Owns the client of a transport. Running exchanges keep it alive beyond the transport.
final class Engine: Sendable {
    let client: HTTPClient
    let usedConnections = UsedConnections()

    /// A connection attempt that nobody waits for any more ends after this time.
    private static let longestConnectionAttempt = TimeAmount.minutes(10)

    init(_ group: any EventLoopGroup, _ configure: (inout HTTPClient.Configuration) -> Void) {
        var configuration = HTTPClient.Configuration()
        configuration.tracing.tracer = nil
        configure(&configuration)
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: Self.longestConnectionAttempt)
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: group, configuration: configuration)
    }

    // A client must be shut down before its end. It keeps itself alive until it is.
    deinit { client.shutdown { _ in } }

    func shutDown() async {
        await withCheckedContinuation { continuation in
            // Fails only if the client was shut down before.
            client.shutdown { _ in continuation.resume() }
        }
    }
}

/// The HTTP/1 connections that carried a request, as far as it remembers.
final class UsedConnections: Sendable {
    private let recent = Mutex<(ids: Set<String>, order: [String])>(([], []))
    private static let limit = 4096

    /// Notes that a connection carries a request. Returns whether it carried one before.
    ///
    /// A forgotten connection counts as new, so that a request sent on it isn't sent again.
    func use(_ id: String) -> Bool {
        recent.withLock { recent in
            guard recent.ids.insert(id).inserted else { return true }
            recent.order.append(id)
            if recent.order.count > Self.limit {
                for old in recent.order.prefix(Self.limit / 2) { recent.ids.remove(old) }
                recent.order.removeFirst(Self.limit / 2)
            }
            return false
        }
    }
}
