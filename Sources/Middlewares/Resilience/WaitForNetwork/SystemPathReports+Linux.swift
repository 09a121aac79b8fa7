#if os(Linux)
internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Reports the machine's addresses to a monitor whenever the kernel says, over netlink, that they may have changed.
///
/// The messages are discarded, because one that was lost for lack of memory would be missed for good. They only trigger a fresh
/// reading of all addresses. The socket is closed with the instance.
final class SystemPathReports: Sendable {
    private let source: Mutex<any DispatchSourceRead>

    /// Begins with the present path. Returns `nil`, and reports nothing, if the kernel doesn't report changes.
    init?(to monitor: NetworkPathMonitor) {
        guard let socket = RouteSocket.open() else { return nil }
        let queue = DispatchQueue(label: "Interceptors.NetworkPathMonitor", qos: .utility)
        let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        source.setEventHandler { [weak monitor] in
            guard let monitor else { return }
            RouteSocket.discardMessages(of: socket)
            let path = Self.current
            guard path == .satisfied, monitor.path != .satisfied else { return monitor.update(path) }
            queue.asyncAfter(deadline: .now() + Self.settling) { [weak monitor] in monitor?.update(Self.current) }
        }
        source.setCancelHandler { close(socket) }
        monitor.update(Self.current)
        source.activate()
        self.source = Mutex(source)
    }

    /// The time from an interface's address to the default route and the name servers, which a DHCP client sets later.
    private static let settling = DispatchTimeInterval.milliseconds(500)

    deinit { source.withLock { $0.cancel() } }

    private static var current: NetworkPath {
        // Without the addresses, an earlier path would stay for good.
        InterfaceAddress.all().map(InterfaceAddress.path) ?? .unknown
    }
}

/// A netlink socket (netlink(7), rtnetlink(7)) that becomes readable when an interface or an address changes.
private enum RouteSocket {
    // Numbers of Linux's binary interface. The C libraries' modules don't have all of them.
    private static let familyNetlink: UInt16 = 16
    private static let groups: UInt32 = 0x1 | 0x10 | 0x100  // RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR

    /// The descriptor; `nil` if the system has no netlink, or allows none.
    static func open() -> CInt? {
        let (raw, closedByExec, nonBlocking): (CInt, CInt, CInt) = (3, 0o2_000_000, 0o4_000)
        let descriptor = socket(CInt(familyNetlink), raw | closedByExec | nonBlocking, 0)
        guard descriptor >= 0 else { return nil }
        // struct sockaddr_nl: family, padding, the sender's ID (chosen by the kernel), groups.
        var address = [UInt8]()
        withUnsafeBytes(of: familyNetlink) { address += $0 }
        address += [0, 0, 0, 0, 0, 0]
        withUnsafeBytes(of: groups) { address += $0 }
        let isBound = address.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            }
        }
        if isBound == true { return descriptor }
        close(descriptor)
        return nil
    }

    static func discardMessages(of descriptor: CInt) {
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            // ENOBUFS says that messages were lost. The next call returns those that weren't.
            if count < 0, errno != EINTR, errno != ENOBUFS { return }
        }
    }
}

extension InterfaceAddress {
    /// The addresses of all interfaces; `nil` if the system doesn't say.
    fileprivate static func all() -> [InterfaceAddress]? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        return sequence(first: first) { $0?.pointee.ifa_next }.prefix { $0 != nil }.compactMap { entry in
            guard let entry = entry?.pointee, let address = entry.ifa_addr else { return nil }
            return InterfaceAddress(flags: UInt32(entry.ifa_flags), bytes: bytes(of: address))
        }
    }

    private static func bytes(of address: UnsafePointer<sockaddr>) -> [UInt8] {
        let raw = UnsafeRawPointer(address)
        // The places of sin_addr and of sin6_addr.
        return switch CInt(address.pointee.sa_family) {
        case AF_INET: [UInt8](UnsafeRawBufferPointer(start: raw + 4, count: 4))
        case AF_INET6: [UInt8](UnsafeRawBufferPointer(start: raw + 8, count: 16))
        default: []
        }
    }
}
#elseif !canImport(Network) || os(watchOS)
/// No system reports here, so the path stays unknown.
final class SystemPathReports: Sendable {
    init?(to monitor: NetworkPathMonitor) { nil }
}
#endif
