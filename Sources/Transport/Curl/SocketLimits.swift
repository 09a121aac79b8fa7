#if os(Linux)
internal import CInterceptorsCurl
internal import Foundation

/// The TCP settings that detect a dead peer.
///
/// A router that forgets a connection, or a host that crashes, closes nothing. A waiting client then waits until TCP gives up
/// after 15 minutes, and over HTTP/2 every later request to the host joins the dead connection. TCP keep-alive therefore
/// probes silent connections, and a limit ends connections whose sent data isn't acknowledged.
struct SocketLimits {
    /// In seconds. A dead unused connection is detected within a minute. If ``unacknowledged`` is longer, the system applies
    /// that limit instead of the probe count.
    static let keepAlive: (idle: Int32, interval: Int32, count: Int32) = (30, 10, 3)

    /// How long sent data may stay unacknowledged, or unsent because the peer takes no more, in milliseconds; 0 for the
    /// system's default.
    ///
    /// A peer may stop reading for a while, and ``Timeouts/idle`` limits such a silence, so the same limit applies here. The
    /// minimum of 30 seconds lets a connection survive a short network failure.
    let unacknowledged: Int

    init(_ timeouts: Timeouts) {
        let seconds = timeouts.idle.map { max(30, $0 / .seconds(1)) } ?? 0
        unacknowledged = Int(min(seconds * 1000, Double(Int32.max)))
    }

    /// Applies these limits to every connection that the handle opens.
    func set(on easy: EasyHandle) {
        easy.set(CCURLOPT_SOCKOPTDATA, UnsafeRawPointer(bitPattern: unacknowledged))
        _ = ccurl_easy_setopt_socket_callback(easy.pointer, onSocket)
    }
}

// If the system refuses an option, its default stays, and the connection still works.
private let onSocket: ccurl_socket_callback = { context, socket, _ in
    func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        withUnsafeBytes(of: value) { _ = setsockopt(socket, level, option, $0.baseAddress, socklen_t($0.count)) }
    }
    let tcp = Int32(IPPROTO_TCP)
    set(SOL_SOCKET, SO_KEEPALIVE, 1)
    set(tcp, TCP_KEEPIDLE, SocketLimits.keepAlive.idle)
    set(tcp, TCP_KEEPINTVL, SocketLimits.keepAlive.interval)
    set(tcp, TCP_KEEPCNT, SocketLimits.keepAlive.count)
    set(tcp, TCP_USER_TIMEOUT, Int32(truncatingIfNeeded: Int(bitPattern: context)))
    return Int32(CCURL_SOCKOPT_OK.rawValue)
}
#endif
