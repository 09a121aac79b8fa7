import Foundation
import Harness
import Interceptors

/// 100 MB in chunks.
private struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    var rest = 1_600

    mutating func next() async throws -> Data? {
        guard rest > 0 else { return nil }
        rest -= 1
        return Data(repeating: UInt8(rest % 251), count: 65_536)
    }

    func makeAsyncIterator() -> Self { self }
}

private struct LongOrigin: Transport {
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(status: 200, headers: Origin.fields, body: .oneShot(Chunks()), url: request.url)
    }
}

/// Measures the memory needed to store and serve a body of 100 MB.
@concurrent
func measureLong() async throws {
    let chain = InterceptorChain([.cache(.disk(at: folder.appending(path: "long")))], transport: LongOrigin())
    let short = InterceptorChain([.cache(.disk(at: folder.appending(path: "short")))], transport: Origin())
    guard let url = URL(string: "https://api.example.com/long") else { throw Wrong() }
    var request = HTTPRequest(url: url)
    request.context.responseBody = .streamed
    // Code and libraries are loaded before the baseline is measured.
    for number in 0..<1_000 { _ = try await short.send(thing(number)) }
    let before = residentMemory()
    print("\nA body of 100 MB,", String(format: "%.1f MB resident before", before))
    for name in ["stored while it is read:", "served:", "served again:"] {
        var most = 0.0
        try await measured(name) {
            var count = 0
            for try await chunk in try await chain.send(request).body {
                count += chunk.count
                if count % (8 << 20) == 0 { most = max(most, residentMemory()) }
            }
            guard count == 104_857_600 else { throw Wrong() }
        }
        goal("memory while a body of 100 MB is \(name.dropLast())", most - before, atMost: 8, "MB")
    }
}
