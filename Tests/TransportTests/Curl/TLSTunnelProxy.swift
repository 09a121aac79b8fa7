#if os(Linux)
import Foundation
import Glibc
import Synchronization
import Testing

@testable import InterceptorsTesting

/// A proxy that clients connect to over TLS. It opens tunnels to ports of this machine, and runs until the process
/// ends.
final class TLSTunnelProxy: Sendable {
    let port: Int
    /// The number of tunnels opened so far.
    var count: Int { opened.withLock { $0 } }
    private let opened = Mutex(0)
    // Threads that belong to no pool wait for this condition.
    private let released = NSCondition()
    private let isHolding = Mutex(false)

    /// Holds back what comes from the origins, until ``release()``.
    func hold() { isHolding.withLock { $0 = true } }

    /// Passes on what was held back, several TLS records in one.
    func release() {
        released.lock()
        isHolding.withLock { $0 = false }
        released.broadcast()
        released.unlock()
    }

    private func waitForRelease() {
        released.lock()
        while isHolding.withLock(\.self) { released.wait() }
        released.unlock()
    }

    init(_ identity: TestIdentity) throws {
        let listener = try SilentServer()
        port = listener.port
        let server = try ServerTLS(identity)
        Thread.detachNewThread { [self] in
            while case let client = accept(listener.descriptor, nil, nil), client >= 0 {
                Thread.detachNewThread { self.serve(client, server) }
            }
        }
    }

    private func serve(_ client: Int32, _ server: ServerTLS) {
        Self.setNonblocking(client)
        let stream = server.stream(client)
        defer { stream.close(byReset: false) }
        var head = Data()
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            switch Self.read(stream) {
            case .bytes(let more): head += more
            case .nothing(let events):
                var entry = pollfd(fd: client, events: events, revents: 0)
                guard poll(&entry, 1, 60_000) > 0 else { return }
            case .end: return
            }
        }
        let target = String(decoding: head, as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
        guard let port = target.split(separator: ":").last.flatMap({ UInt16($0) }),
            let descriptor = TunnelProxy.connect(to: port)
        else { return }
        opened.withLock { $0 += 1 }
        Self.setNonblocking(descriptor)
        let origin = PlainStream(descriptor)
        defer { origin.close(byReset: false) }
        guard Self.write(stream, Data("HTTP/1.1 200 Opened\r\n\r\n".utf8)) else { return }
        while true {
            var entries = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&entries, 2, 60_000) > 0 else { return }
            for (source, target) in [(stream, origin as any ByteStream), (origin, stream)] {
                if source === origin, entries[1].revents != 0 { waitForRelease() }
                var all = Data()
                var piece = Self.read(source)
                while case .bytes(let more) = piece {
                    all += more
                    piece = Self.read(source)
                }
                if !all.isEmpty, !Self.write(target, all) { return }
                if case .end = piece { return }
            }
        }
    }

    private enum Piece {
        case bytes(Data)
        /// There are no bytes now. More may come after these events.
        case nothing(events: Int16)
        case end
    }

    private static func read(_ stream: any ByteStream) -> Piece {
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
        case .moved(let count): return .bytes(Data(buffer.prefix(count)))
        case .wait(let events): return .nothing(events: events)
        case .end, .failed: return .end
        }
    }

    private static func write(_ stream: any ByteStream, _ bytes: Data) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ stream.write($0) }) {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wait(let events):
                var entry = pollfd(fd: stream.descriptor, events: events, revents: 0)
                guard poll(&entry, 1, 60_000) > 0 else { return false }
            case .end, .failed: return false
            }
        }
        return true
    }

    private static func setNonblocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
}
#endif
