internal import Foundation
internal import InterceptorsTransport

/// The chunks of a stream, with a bound on their number. Without the bound, a server that sends single bytes would cost a hundred
/// times the memory of its content.
///
/// At the bound, each chunk is joined with the next one, and from then on twice as many chunks as before make one. Content and
/// duration stay the same; the rhythm becomes coarser.
struct ChunkBuffer: Sendable {
    static let limit = 10_000

    private(set) var chunks: [StubAnswer.Chunk] = []
    /// The number of received chunks that make one.
    private var size = 1
    /// The number of received chunks in the last one.
    private var inLast = 0

    mutating func append(_ bytes: Data, after pause: Duration) {
        if inLast < size, let last = chunks.indices.last {
            chunks[last].join(StubAnswer.Chunk(bytes, after: pause))
            inLast += 1
            return
        }
        if chunks.count == Self.limit {
            for index in 0..<(Self.limit / 2) {
                var chunk = chunks[2 * index]
                chunk.join(chunks[2 * index + 1])
                chunks[index] = chunk
            }
            chunks.removeLast(Self.limit / 2)
            size *= 2
        }
        chunks.append(StubAnswer.Chunk(bytes, after: pause))
        inLast = 1
    }
}

extension StubAnswer.Chunk {
    fileprivate mutating func join(_ next: Self) {
        bytes += next.bytes
        pause += next.pause
    }
}
