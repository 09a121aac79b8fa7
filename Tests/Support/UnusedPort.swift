internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// A port on loopback that refuses connections and that nobody else can get while this value lives. In contrast, the
/// port of a stopped server may soon belong to another test's server.
public final class UnusedPort: Sendable {
    /// No port could be reserved.
    public struct Failure: Error {
        /// The `errno` of the failed call.
        public let code: Int32
    }

    /// The port's number.
    public let number: Int
    private let descriptor: Int32

    /// Reserves a port: binds a socket to it, and doesn't listen.
    public init() throws {
        descriptor = socket(AF_INET, 1, 0)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (descriptor, length)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw Failure(code: code)
        }
    }

    deinit { close(descriptor) }
}
