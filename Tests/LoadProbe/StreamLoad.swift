#if os(Linux)
import InterceptorsTransfers
import Foundation
import InterceptorsCore
import InterceptorsTestSupport

/// Transfers bodies far larger than memory, and checks that memory doesn't grow.
struct StreamLoad {
    let size: Int
    let url: URL
    let versions: CurlTransport.Versions

    private var transport: CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.versions = versions
        return CurlTransport(configuration)
    }

    func download() async throws {
        let transport = transport
        _ = try await transport.send(HTTPRequest(method: .head, url: url))
        var request = HTTPRequest(url: url)
        request.context.responseBody = .streamed
        try await expectConstantMemory("\(size >> 20) MB down") {
            var count = 0
            for try await chunk in try await transport.send(request).body { count += chunk.count }
            try check(count == size, "Only \(count) bytes came.")
        }
        await transport.shutDown()
    }

    /// The server responds with the number of bytes that it has received.
    func upload() async throws {
        let transport = transport
        _ = try await transport.send(HTTPRequest(method: .put, url: url))
        let chunk = Data(count: 1 << 16)
        let body = HTTPBody.restartable(length: Int64(size)) { Repeated(chunk: chunk, times: size / chunk.count) }
        try await expectConstantMemory("\(size >> 20) MB up") {
            let response = try await transport.send(HTTPRequest(method: .put, url: url, body: body))
            let count = String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
            try check(count == "\(size)", "Only \(count) bytes arrived.")
        }
        await transport.shutDown()
    }

    /// While the reader pauses, 2,000 other requests leave enough time for the whole body to arrive, unless the
    /// transfer pauses, too.
    func pause() async throws {
        let transport = transport
        let other = HTTPRequest(method: .head, url: url)
        _ = try await transport.send(other)
        var request = HTTPRequest(url: url)
        request.context.responseBody = .streamed
        try await expectConstantMemory("a reader that pauses") {
            let response = try await transport.send(request)
            var iterator = response.body.makeAsyncIterator()
            try check(try await iterator.next() != nil, "Nothing came.")
            for _ in 0..<2000 { _ = try await transport.send(other) }
            response.body.discard()
        }
        await transport.shutDown()
    }

    /// The number is that of the events. The server sends fewer at `/first`.
    func events() async throws {
        try await read("events") { client, path in
            try await client.events(path, reconnection: nil).reduce(into: 0) { count, event in
                count += event.data.isEmpty ? 0 : 1
            }
        }
    }

    /// The number is that of the lines. The server sends fewer at `/first`.
    func lines() async throws {
        struct Row: Decodable, Sendable { let text: String }
        try await read("JSON lines") { client, path in
            try await client.lines(path, as: Row.self).reduce(into: 0) { count, row in count += row.text.isEmpty ? 0 : 1
            }
        }
    }

    private func read(_ kind: String, _ count: (Client, RequestTarget) async throws -> Int) async throws {
        let transport = transport
        let client = Client(baseURL: url, interceptors: [], transport: transport)
        // The first ones fill caches of the libraries, such as those of the decoder.
        _ = try await count(client, "/first")
        try await expectConstantMemory("\(size) \(kind)", limit: 8 << 20) {
            let found = try await count(client, "/all")
            try check(found == size, "Only \(found) came.")
        }
        await transport.shutDown()
    }

    private func expectConstantMemory(
        _ name: String,
        limit: Int = 32 << 20,
        during work: () async throws -> Void
    ) async throws {
        OwnProcess.forgetPeak()
        let (before, start) = (OwnProcess.memory, ContinuousClock.now)
        try await work()
        let growth = OwnProcess.peakMemory - before
        print("measured: \(name) in \(start.duration(to: .now)): memory grew by at most \(growth >> 10) KB")
        try check(growth < limit, "Too much memory.")
    }

    private struct Repeated: AsyncSequence, Sendable {
        let chunk: Data
        let times: Int

        func makeAsyncIterator() -> Iterator { Iterator(chunk: chunk, left: times) }

        struct Iterator: AsyncIteratorProtocol {
            let chunk: Data
            var left: Int

            mutating func next() async -> Data? {
                guard left > 0 else { return nil }
                left -= 1
                return chunk
            }
        }
    }
}
#endif
