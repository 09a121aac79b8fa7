#if os(Linux)
import Foundation
import Glibc
import Synchronization
import Testing

/// A server that answers each head and counts the bytes that follow, without ever reading a whole request. It runs
/// until the process ends.
final class HeadServer: Sendable {
    struct Connection: Sendable {
        var heads: [String] = []
        /// The bytes that followed the heads.
        var rest = 0
    }

    /// The answer to a head: its bytes, and whether the connection is closed after them.
    struct Answer: Sendable {
        var text: String
        var closes = false
    }

    let url: URL
    private let state = Mutex<[Int: Connection]>([:])
    private let (closes, closed) = AsyncStream.makeStream(of: Void.self)

    /// - Parameter answer: returns the answer to a head. `number` counts the heads on all connections, from 1.
    init(_ answer: @escaping @Sendable (_ head: String, _ number: Int) -> Answer) throws {
        let listener = try SilentServer()
        url = try #require(URL(string: "http://127.0.0.1:\(listener.port)/"))
        Thread.detachNewThread { [self] in
            var id = 0
            while case let client = accept(listener.descriptor, nil, nil), client >= 0 {
                id += 1
                let number = id
                Thread.detachNewThread { self.serve(client, number, answer) }
            }
        }
    }

    /// All connections, in the order in which they were opened.
    var connections: [Connection] { state.withLock { all in all.keys.sorted().compactMap { all[$0] } } }

    /// Waits until the client has closed a connection and all its bytes are counted. Each call waits for one
    /// connection.
    func closedConnection() async { for await _ in closes { return } }

    private func serve(_ client: Int32, _ id: Int, _ answer: (String, Int) -> Answer) {
        state.withLock { $0[id] = Connection() }
        var input = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(client, &buffer, buffer.count), count > 0 {
            input += buffer[..<count]
            while let end = input.range(of: Data("\r\n\r\n".utf8)) {
                let text = String(decoding: input[..<end.upperBound], as: UTF8.self)
                input = Data(input[end.upperBound...])
                // Content may come before a head, and chunked content ends with the same bytes as a head.
                let start = ["GET /", "PUT /", "POST /"].compactMap { text.range(of: $0)?.lowerBound }.min()
                let head = String(text[(start ?? text.endIndex)...])
                state.withLock { $0[id, default: Connection()].rest += text.utf8.count - head.utf8.count }
                guard start != nil else { continue }
                let number = state.withLock { all in
                    all[id, default: Connection()].heads.append(head)
                    return all.values.reduce(0) { $0 + $1.heads.count }
                }
                let reply = answer(head, number)
                let bytes = Array(reply.text.utf8)
                _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                if reply.closes { shutdown(client, Int32(SHUT_WR)) }
            }
            if !input.starts(with: Data("GET".utf8)), !input.starts(with: Data("P".utf8)) {
                state.withLock { $0[id, default: Connection()].rest += input.count }
                input = Data()
            }
        }
        close(client)
        closed.yield()
    }
}
#endif
