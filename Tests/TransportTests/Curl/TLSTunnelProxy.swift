#if os(Linux)
import Foundation
import Glibc
import Synchronization
import Testing

@testable import TransportTesting

/// A proxy that clients connect to over TLS. It opens tunnels to ports of this machine, and runs until the process
/// ends.
final class TLSTunnelProxy: Sendable {
    let port: Int
    /// The number of tunnels opened so far.
    var count: Int { opened.withLock { $0 } }
    private let opened = Mutex(0)

    init(_ identity: TestIdentity) throws {
        let listener = try SilentServer()
        port = listener.port
        let server = try ServerTLS(.init(identity: identity))
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
            guard case .bytes(let more) = Self.read(stream, milliseconds: 60_000) else { return }
            head += more
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
                // TLS records from the origin that arrive close together leave in one record of the proxy.
                var all = Data()
                var piece = Self.read(source, milliseconds: 0)
                while case .bytes(let more) = piece {
                    all += more
                    piece = Self.read(source, milliseconds: source === origin ? 50 : 0)
                }
                if !all.isEmpty, !Self.write(target, all) { return }
                if case .end = piece { return }
            }
        }
    }

    private enum Piece {
        case bytes(Data), nothing, end
    }

    private static func read(_ stream: any ByteStream, milliseconds: Int32) -> Piece {
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
            case .moved(let count): return .bytes(Data(buffer.prefix(count)))
            case .wait(let events):
                var entry = pollfd(fd: stream.descriptor, events: events, revents: 0)
                guard poll(&entry, 1, milliseconds) > 0 else { return .nothing }
            case .end, .failed: return .end
            }
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
