#if os(Linux)
import Foundation
import TestSupport
import Transport

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

    private func expectConstantMemory(_ name: String, during work: () async throws -> Void) async throws {
        OwnProcess.forgetPeak()
        let (before, start) = (OwnProcess.memory, ContinuousClock.now)
        try await work()
        let growth = OwnProcess.peakMemory - before
        print("measured: \(name) in \(start.duration(to: .now)): memory grew by at most \(growth >> 10) KB")
        try check(growth < 32 << 20, "Too much memory.")
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
