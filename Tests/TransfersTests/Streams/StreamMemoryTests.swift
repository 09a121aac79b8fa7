import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Synchronization
import Testing

/// Streams of 64 MB; with INTERCEPTORS_FULL_LOAD set, of 1 GB. Each chunk counts itself until it is freed.
@Suite(.againstHanging, .heavy) struct StreamMemoryTests {
    private static let size = FullLoad.isOn ? 1 << 30 : 64 << 20
    private static let filler = String(repeating: "x", count: 1000)

    private func client(_ text: String, type: String, _ memory: ChunkMemory) -> (client: Client, repetitions: Int) {
        let chunk = Array(String(repeating: text, count: 64).utf8)
        let chunks = Self.size / chunk.count
        let stub = StubTransport { request in
            HTTPResponse(
                status: 200,
                headers: [.contentType: type],
                body: .oneShot(CountedChunks(chunk: chunk, count: chunks, memory: memory)),
                url: request.url
            )
        }
        return (makeClient(stub), chunks * 64)
    }

    @Test func eventsTakeConstantMemory() async throws {
        let memory = ChunkMemory()
        let (client, repetitions) = client("id: 7\ndata: \(Self.filler)\n\n", type: "text/event-stream", memory)
        var (count, length) = (0, 0)
        for try await event in client.events("/stream", reconnection: nil) {
            count += 1
            length += event.data.utf8.count
        }
        #expect(count == repetitions)
        #expect(length == repetitions * Self.filler.utf8.count)
        #expect(memory.most <= 1 << 20)
        #expect(memory.now == 0)
    }

    @Test func linesTakeConstantMemory() async throws {
        struct Row: Decodable, Sendable { let id: Int }
        let memory = ChunkMemory()
        let line = #"{"id":7,"text":"\#(Self.filler)"}\#n"#
        let (client, repetitions) = client(line, type: "application/x-ndjson", memory)
        var sum = 0
        for try await row in client.lines("/export", as: Row.self) { sum += row.id }
        #expect(sum == repetitions * 7)
        #expect(memory.most <= 1 << 20)
        #expect(memory.now == 0)
    }
}

/// The bytes of the chunks that haven't been freed.
private final class ChunkMemory: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var now: Int { state.withLock(\.now) }
    var most: Int { state.withLock(\.most) }

    /// A copy of the bytes that is counted until it is freed.
    func chunk(_ bytes: [UInt8]) -> Data {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        memory.copyBytes(from: bytes)
        add(bytes.count)
        guard let start = memory.baseAddress else { return Data() }
        return Data(
            bytesNoCopy: start,
            count: bytes.count,
            deallocator: .custom { [self] start, count in
                start.deallocate()
                add(-count)
            }
        )
    }

    private func add(_ count: Int) {
        state.withLock { state in
            state.now += count
            state.most = max(state.most, state.now)
        }
    }
}

private struct CountedChunks: AsyncSequence, Sendable {
    let chunk: [UInt8]
    let count: Int
    let memory: ChunkMemory

    struct Iterator: AsyncIteratorProtocol {
        let chunks: CountedChunks
        var rest: Int

        mutating func next() async throws -> Data? {
            guard rest > 0 else { return nil }
            rest -= 1
            return chunks.memory.chunk(chunks.chunk)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self, rest: count) }
}
