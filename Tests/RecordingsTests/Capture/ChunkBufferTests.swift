import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct ChunkBufferTests {
    @Test func chunksUpToTheLimitAreKeptAsTheyCame() {
        var buffer = ChunkBuffer()
        for number in 0..<ChunkBuffer.limit {
            buffer.append(Data([UInt8(truncatingIfNeeded: number)]), after: .seconds(number))
        }
        #expect(buffer.chunks.count == ChunkBuffer.limit)
        #expect(buffer.chunks[77] == StubAnswer.Chunk(Data([77]), after: .seconds(77)))
    }

    @Test(arguments: [10_001, 20_000, 20_001, 123_457])
    func moreChunksAreJoinedWithTheirNeighbours(count: Int) {
        var buffer = ChunkBuffer()
        for number in 0..<count { buffer.append(Data([UInt8(truncatingIfNeeded: number)]), after: .milliseconds(1)) }
        #expect((ChunkBuffer.limit / 2...ChunkBuffer.limit).contains(buffer.chunks.count))
        let content = buffer.chunks.reduce(into: Data()) { $0 += $1.bytes }
        #expect(content == Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }))
        #expect(buffer.chunks.reduce(.zero) { $0 + $1.pause } == .milliseconds(count))
        // A later chunk isn't much longer than the others.
        let lengths = Set(buffer.chunks.dropLast().map(\.bytes.count))
        #expect(lengths.count == 1, "\(lengths)")
    }
}
