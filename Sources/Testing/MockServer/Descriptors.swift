internal import Foundation
internal import Synchronization

/// The server's system calls, under names that no method shadows.
enum Descriptors {
    // SOCK_STREAM has different types in glibc and elsewhere, but always the value 1.
    private static let streamSocket: Int32 = 1
    // Writing to a closed connection returns an error instead of ending the process. Darwin has a socket option for it.
    #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
    #else
    private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    // POLLRDHUP: the peer sends no more, even if unread bytes come before. Elsewhere only POLLHUP tells, without being asked.
    #if os(Linux)
    static let hangup: Int16 = 0x2000
    #else
    static let hangup: Int16 = 0
    #endif

    /// Creates a socket that listens on a port of 127.0.0.1; 0 stands for an ephemeral one.
    static func listen(on port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { throw MockServerError("open a socket", code: errno) }
        do {
            prepare(descriptor)
            // A server that was just stopped leaves connections behind, which mustn't keep its port.
            if port != 0 { set(descriptor, level: SOL_SOCKET, option: SO_REUSEADDR, to: Int32(1)) }
            try bind(descriptor, to: port)
            // A long backlog queues a burst of clients instead of refusing them.
            try check(Foundation.listen(descriptor, 1024), "listen")
            return (descriptor, try self.port(of: descriptor))
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// The next connection, or `nil` if none is waiting any more.
    static func accept(on listener: Int32) -> Int32? {
        let descriptor = Foundation.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        set(descriptor, level: Int32(IPPROTO_TCP), option: TCP_NODELAY, to: Int32(1))
        return descriptor
    }

    /// Whether the last failure of ``accept(on:)`` concerned only that connection, so that accepting can continue.
    static var acceptMayBeTriedAgain: Bool { ![EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) }

    static func close(_ descriptor: Int32) { _ = Foundation.close(descriptor) }

    /// Makes closing the socket send a reset instead of an orderly end.
    static func resetOnClose(_ descriptor: Int32) {
        set(descriptor, level: SOL_SOCKET, option: SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
    }

    /// Ends the sending direction of a socket.
    static func endSending(_ descriptor: Int32) {
        // 1 is SHUT_WR, which is an enumeration in glibc.
        _ = shutdown(descriptor, 1)
    }

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .moved(count) }
            if count == 0 { return .end }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wait(Int16(POLLIN)) : .failed
        }
    }

    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
        while true {
            let count = Foundation.send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
            if count >= 0 { return .moved(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wait(Int16(POLLOUT)) : .failed
        }
    }

    /// Waits until one of the entries is ready, at most for the given time. A negative number waits forever.
    static func wait(_ entries: inout [pollfd], milliseconds: Int32 = -1) {
        while poll(&entries, nfds_t(entries.count), milliseconds) < 0, errno == EINTR || errno == EAGAIN {}
    }

    fileprivate static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        // Child processes must not inherit the descriptor.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        // SO_NOSIGPIPE: writing to a closed connection returns an error instead of ending the process.
        set(descriptor, level: SOL_SOCKET, option: 0x1022, to: Int32(1))
        #endif
    }

    private static func set<Value: BitwiseCopyable>(_ descriptor: Int32, level: Int32, option: Int32, to value: Value) {
        withUnsafePointer(to: value) {
            _ = setsockopt(descriptor, level, option, $0, socklen_t(MemoryLayout<Value>.size))
        }
    }

    private static func bind(_ descriptor: Int32, to port: UInt16) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try check(result, port == 0 ? "bind to 127.0.0.1" : "bind to port \(port) of 127.0.0.1")
    }

    private static func port(of descriptor: Int32) throws -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        try check(result, "learn its port")
        return UInt16(bigEndian: address.sin_port)
    }

    private static func check(_ result: Int32, _ action: String) throws {
        guard result == 0 else { throw MockServerError(action, code: errno) }
    }
}

/// Thrown when a ``MockServer`` can't be started.
struct MockServerError: Error, CustomStringConvertible {
    /// The action that the system refused, and the reason.
    let description: String

    init(_ action: String, code: Int32) {
        description = "The mock server could not \(action): \(String(cString: strerror(code)))."
    }
}

/// Wakes a thread from `poll`. Any thread may signal, even after the polling thread has closed the pipe.
final class WakePipe: Sendable {
    /// The descriptor to poll.
    let reading: Int32
    // The writing end, or `nil` once closed. The lock keeps a late signal from reaching a descriptor that the system has
    // reused.
    private let writing: Mutex<Int32?>

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw MockServerError("open a pipe", code: errno) }
        // Neither end blocks.
        ends.forEach(Descriptors.prepare)
        reading = ends[0]
        writing = Mutex(ends[1])
    }

    /// Makes `reading` readable.
    func signal() { writing.withLock { if let end = $0 { _ = write(end, "!", 1) } } }

    /// Makes `reading` unreadable until the next signal.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) > 0 {}
    }

    /// Closes both ends. Call it only from the polling thread, or after joining all polling threads.
    func close() {
        writing.withLock { end in
            guard let open = end else { return }
            end = nil
            Descriptors.close(open)
            Descriptors.close(reading)
        }
    }
}
