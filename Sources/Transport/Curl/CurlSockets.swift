#if os(Linux)
internal import CCurl
internal import Foundation

/// How the system finds out that nobody is at the other end of a connection any longer.
///
/// A router that forgets a connection, or a host that is gone, closes nothing: whoever waits there waits until TCP gives up,
/// after 15 minutes, and over HTTP/2 every later request to that host would join it. So an unused or silent connection is
/// probed, and one on which what was sent isn't taken ends sooner.
struct SocketLimits {
    /// Each in seconds: an unused connection that is dead is known to be within a minute, or within ``unacknowledged`` where that
    /// is more: the system counts it in place of the probes.
    static let keepAlive: (idle: Int32, interval: Int32, count: Int32) = (30, 10, 3)

    /// How long what was sent may stay unacknowledged, or unsent because the peer takes no more, in milliseconds; 0 for as long
    /// as the system has it.
    ///
    /// To take no more for a while is a peer's right, and a silence to ``Timeouts/idle``: the same limit holds. A shorter one
    /// than half a minute would also end what would have survived a short breakdown.
    let unacknowledged: Int

    init(_ timeouts: Timeouts) {
        let seconds = timeouts.idle.map { max(30, $0 / .seconds(1)) } ?? 0
        unacknowledged = Int(min(seconds * 1000, Double(Int32.max)))
    }

    /// Sets them on every connection that a handle will open.
    func set(on easy: EasyHandle) {
        easy.set(CCURLOPT_SOCKOPTDATA, UnsafeRawPointer(bitPattern: unacknowledged))
        _ = ccurl_easy_setopt_socket_callback(easy.pointer, onSocket)
    }
}

// An option that the system refuses keeps the system's value: the connection still works.
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
