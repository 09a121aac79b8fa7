import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A client that sends any bytes, valid or not, and returns what it receives.
///
/// Each call blocks a thread made for it, never a thread of the pool that runs tasks.
final class RawClient: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        let code: Int32
    }

    private static let limit = 256 << 20

    let descriptor: Int32
    private let isOpen = Mutex(true)
    private let buffer = Mutex(Data())

    init(port: Int) throws {
        descriptor = socket(AF_INET, 1, 0)
        // A process that another test starts must not keep the connection open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Fails the test if the server never answers. An hour is enough for a server that waits for a processor.
        var limit = timeval(tv_sec: 3600, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close()
            throw Failure(description: "connect: \(code)", code: code)
        }
    }

    deinit { close() }

    func close(byReset: Bool = false) {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            isOpen = false
            if byReset {
                var value = linger(l_onoff: 1, l_linger: 0)
                setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
            }
            closeDescriptor(descriptor)
        }
    }

    func endSending() { _ = shutdown(descriptor, 1) }

    func send(_ text: String) async throws { try await send(Data(text.utf8)) }

    func send(_ bytes: Data) async throws {
        try await onThread {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    sendBytes(self.descriptor, $0.baseAddress! + sent, bytes.count - sent)
                }
                guard count > 0 else { throw Failure(description: "send: \(errno)", code: errno) }
                sent += count
            }
        }
    }

    /// All bytes, as text, until the server closes the connection.
    func receiveAll() async throws -> String { String(decoding: try await receiveAllBytes(), as: UTF8.self) }

    /// All bytes until the server closes the connection.
    func receiveAllBytes() async throws -> Data {
        try await receive { _ in nil }
    }

    /// All bytes up to and including a text.
    func receive(through end: String) async throws -> String {
        let end = Data(end.utf8)
        return String(decoding: try await receive { $0.range(of: end)?.upperBound }, as: UTF8.self)
    }

    /// The next `count` bytes.
    func receive(_ count: Int) async throws -> String {
        String(decoding: try await receive { $0.count >= count ? $0.startIndex + count : nil }, as: UTF8.self)
    }

    /// A response with a Content-Length.
    func receiveResponse() async throws -> (head: String, body: String) {
        let head = try await receive(through: "\r\n\r\n")
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = line.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        return (head, try await receive(length))
    }

    /// Sends a request, and receives its response.
    func ask(_ text: String) async throws -> (head: String, body: String) {
        try await send(text)
        return try await receiveResponse()
    }

    /// The number of bytes until the server closes the connection. The bytes aren't kept.
    func countAll() async throws -> Int {
        try await onThread {
            var total = self.buffer.withLock { $0.count }
            while let bytes = try self.receiveSome() { total += bytes.count }
            return total
        }
    }

    private func receive(_ end: @escaping @Sendable (Data) -> Data.Index?) async throws -> Data {
        try await onThread {
            while true {
                let taken: Data? = self.buffer.withLock { buffer in
                    guard let end = end(buffer) else { return nil }
                    defer { buffer = Data(buffer[end...]) }
                    return Data(buffer[..<end])
                }
                if let taken { return taken }
                guard let bytes = try self.receiveSome() else {
                    return self.buffer.withLock { buffer in
                        defer { buffer = Data() }
                        return buffer
                    }
                }
                let count = self.buffer.withLock { buffer in
                    buffer += bytes
                    return buffer.count
                }
                // A server that sends without end must not use up all memory.
                guard count <= Self.limit else { throw Failure(description: "receive: \(count) bytes", code: 0) }
            }
        }
    }

    private func receiveSome() throws -> Data? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count == 0 { return nil }
        guard count > 0 else { throw Failure(description: "receive: \(errno)", code: errno) }
        return Data(bytes[..<count])
    }

    private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
        }
    }
}

private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes, count, 0)
    #else
    send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
    #endif
}
