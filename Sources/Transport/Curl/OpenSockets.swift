#if os(Linux)
internal import CInterceptorsCurl
internal import Foundation

/// The sockets that libcurl holds for one transport, and whether a kept-alive connection may carry another request.
///
/// A server that sends bytes between requests has closed the connection, or wants the bytes to be taken for the next response
/// (RFC 9112 §9.2). libcurl 7.88 would still send on such a connection. Its prerequest callback names the chosen connection
/// only by the local port, so this object keeps the sockets by their local ports.
///
/// Only HTTP/1 is checked: over HTTP/2 bytes are frames of known streams, which may come at any time.
///
/// `@unchecked Sendable`: only the loop's thread uses this object. libcurl opens and closes sockets, and runs its callbacks,
/// on that thread.
final class OpenSockets: @unchecked Sendable {
    private struct Slot {
        let socket: Int32
        var speaksHTTP1 = false
        /// Whether a limit passed on the connection, so that no other request may use it.
        var isRetired = false
        /// The SSL of the proxy, if the server's TLS connection goes through it. libcurl frees it with the socket.
        var proxySSL: UnsafeMutableRawPointer?
    }

    /// Sockets opened since the last lookup, whose ports aren't known yet.
    private var unplaced: [Int32] = []
    private var ports: [Int32: Int32] = [:]
    // A port may have several sockets: connections to different peers can share a local port.
    private var slots: [Int32: [Slot]] = [:]

    /// Makes libcurl open and close the sockets of a handle's connections through this object, which must outlive them.
    func use(in easy: EasyHandle) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        easy.set(CCURLOPT_OPENSOCKETDATA, context)
        easy.set(CCURLOPT_CLOSESOCKETDATA, context)
        _ = ccurl_easy_setopt_open_callback(easy.pointer, onOpen)
        _ = ccurl_easy_setopt_close_callback(easy.pointer, onClose)
    }

    /// Records that a connection responded in HTTP/1. Returns whether its socket is known, since an unknown socket can't be
    /// checked.
    ///
    /// - Parameter proxySSL: the SSL of the connection's proxy, if this is a new connection to one.
    func noteHTTP1(from port: Int32, through proxySSL: UnsafeMutableRawPointer?) -> Bool {
        if !unplaced.isEmpty { placeAll() }
        guard var found = slots[port] else { return false }
        guard found.contains(where: { !$0.speaksHTTP1 }) else { return true }
        for index in found.indices where !found[index].speaksHTTP1 {
            found[index].speaksHTTP1 = true
            found[index].proxySSL = proxySSL
        }
        slots[port] = found
        return true
    }

    /// Whether an HTTP/1 connection has anything to read: its close, or bytes that no request asked for.
    func isReadable(from port: Int32) -> Bool {
        slots[port]?.contains { $0.speaksHTTP1 && (Self.isReadable($0.socket) || CurlTLS.hasUnreadBytes($0.proxySSL)) }
            ?? false
    }

    /// Keeps later requests off a connection.
    func retire(_ port: Int32) {
        if !unplaced.isEmpty { placeAll() }
        for index in slots[port, default: []].indices { slots[port]?[index].isRetired = true }
    }

    /// Whether a limit passed on a connection before.
    func isRetired(_ port: Int32) -> Bool { slots[port]?.contains(where: \.isRetired) ?? false }

    /// Whether a connection has responded in HTTP/1 before.
    func speaksHTTP1(from port: Int32) -> Bool { slots[port]?.contains(where: \.speaksHTTP1) ?? false }

    fileprivate func opened(_ socket: Int32) { unplaced.append(socket) }

    fileprivate func closed(_ socket: Int32) {
        unplaced.removeAll { $0 == socket }
        guard let port = ports.removeValue(forKey: socket) else { return }
        slots[port]?.removeAll { $0.socket == socket }
        if slots[port]?.isEmpty == true { slots[port] = nil }
    }

    private func placeAll() {
        unplaced.removeAll { socket in
            // A socket has no port before it connects.
            guard let port = Self.localPort(of: socket) else { return false }
            ports[socket] = port
            slots[port, default: []].append(Slot(socket: socket))
            return true
        }
    }

    private static func isReadable(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        // A close reads as 0 bytes, and a reset as another error.
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) >= 0 || errno != EAGAIN
    }

    private static func localPort(of socket: Int32) -> Int32? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let port = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                // An IPv4 address has its port at the same offset.
                let isKnown = address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(socket, $0, &size) == 0
                }
                return isKnown ? UInt16(bigEndian: address.pointee.sin6_port) : 0
            }
        }
        return port == 0 ? nil : Int32(port)
    }
}

private func sockets(_ context: UnsafeMutableRawPointer?) -> OpenSockets? {
    context.map { Unmanaged<OpenSockets>.fromOpaque($0).takeUnretainedValue() }
}

private let onOpen: ccurl_open_callback = { context, _, address in
    guard let address else { return -1 }
    // Set at creation: a child process forked before a later call would inherit the connection.
    let type = address.pointee.type | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
    if descriptor >= 0 { sockets(context)?.opened(descriptor) }
    return descriptor
}

private let onClose: ccurl_close_callback = { context, descriptor in
    sockets(context)?.closed(descriptor)
    return close(descriptor)
}
#endif
