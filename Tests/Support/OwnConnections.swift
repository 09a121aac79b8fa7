#if os(Linux)
internal import Foundation
internal import Glibc

/// The client sides of this process's connections to a port.
public enum OwnConnections {
    /// The connections did not become readable.
    public struct Failure: Error, CustomStringConvertible {
        /// The port, and what was missing.
        public let description: String
    }

    /// The descriptors of the connections.
    public static func sockets(to port: Int) -> [Int32] {
        (0..<getdtablesize()).prefix(65_536).filter { descriptor in
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) == 0 }
            }
            return isConnected && address.sin_family == sa_family_t(AF_INET)
                && UInt16(bigEndian: address.sin_port) == UInt16(port)
        }
    }

    /// Waits until every connection to a port is readable: bytes have come, or the server has closed it. Throws if there
    /// are fewer connections than `count`, or if nothing comes for ten minutes.
    public static func readable(to port: Int, count: Int) async throws {
        let sockets = sockets(to: port)
        guard sockets.count >= count else {
            throw Failure(description: "\(sockets.count) connections to port \(port) instead of \(count)")
        }
        let areReadable = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: sockets.allSatisfy(becomesReadable)) }
        }
        if !areReadable { throw Failure(description: "a connection to port \(port) stays silent") }
    }

    private static func becomesReadable(_ socket: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&entry, 1, 600_000)
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }
}
#endif
