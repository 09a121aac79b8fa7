#if os(Linux)
import Foundation
import Glibc
import Synchronization
import Testing

/// A server that answers the first request of each HTTP/2 connection without TLS with given frames (RFC 9113 §4.1), and counts
/// these requests. It runs until the process ends.
final class HTTP2Script: Sendable {
    /// A frame of stream 1.
    enum Frame: Sendable {
        case head([(String, String)], endsStream: Bool = false)
        case data(String, endsStream: Bool = false)
        /// RST_STREAM with an error code (RFC 9113 §7).
        case reset(UInt8)

        var bytes: [UInt8] {
            switch self {
            case .head(let fields, let ends): HTTP2Script.frame(1, flags: ends ? 5 : 4, stream: 1, Self.block(fields))
            case .data(let text, let ends): HTTP2Script.frame(0, flags: ends ? 1 : 0, stream: 1, Array(text.utf8))
            case .reset(let code): HTTP2Script.frame(3, flags: 0, stream: 1, [0, 0, 0, code])
            }
        }

        // Literal fields without indexing and without Huffman coding (RFC 7541 §6.2.2), each shorter than 127 bytes.
        private static func block(_ fields: [(String, String)]) -> [UInt8] {
            var block: [UInt8] = []
            for (name, value) in fields {
                block.append(0)
                for text in [name, value] {
                    block.append(UInt8(text.utf8.count))
                    block.append(contentsOf: text.utf8)
                }
            }
            return block
        }
    }

    let url: URL
    private let heads = Atomic(0)

    convenience init(_ frames: [Frame]) throws { try self.init(connections: [frames]) }

    /// - Parameter connections: the frames for each connection in turn; the last ones also for all later connections.
    init(connections: [[Frame]]) throws {
        let listener = try SilentServer()
        url = try #require(URL(string: "http://127.0.0.1:\(listener.port)/"))
        let answers = connections.map { Self.frame(4, flags: 0, stream: 0, []) + $0.flatMap(\.bytes) }
        Thread.detachNewThread { [self] in
            var rest = answers[...]
            while case let client = accept(listener.descriptor, nil, nil), client >= 0 {
                serve(client, rest.count > 1 ? rest.removeFirst() : rest.first ?? [])
            }
        }
    }

    /// How many requests have come.
    var requests: Int { heads.load(ordering: .relaxed) }

    fileprivate static func frame(_ type: UInt8, flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let head: [UInt8] = [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), type, flags, 0, 0, 0, stream]
        return head + payload
    }

    /// Answers once the head of a request has come, and reads on until the client leaves.
    private func serve(_ client: Int32, _ answer: [UInt8]) {
        var input: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var hasAnswered = false
        while case let count = read(client, &buffer, buffer.count), count > 0 {
            input += buffer[..<count]
            guard !hasAnswered, Self.hasHead(input) else { continue }
            hasAnswered = true
            heads.add(1, ordering: .relaxed)
            _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
        }
        close(client)
    }

    private static func hasHead(_ input: [UInt8]) -> Bool {
        var rest = input.dropFirst("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count)
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            if head[3] == 1 { return true }
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            rest = rest.dropFirst(9 + length)
        }
        return false
    }
}
#endif
