#if os(Linux)
import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct ReceivedChunksTests {
    private static let size = BlockPool.blockSize

    private static func append(_ bytes: Data, to chunks: inout ReceivedChunks) {
        bytes.withUnsafeBytes { chunks.append($0) }
    }

    private static func take(from chunks: inout ReceivedChunks) throws -> Data {
        let chunk = chunks.take()
        return try #require(chunk)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func whatGoesInComesOutInOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var chunks = ReceivedChunks(pool: BlockPool())
        var (expected, received) = (Data(), Data())
        for next in 0..<200 {
            if Bool.random(using: &generator) {
                let bytes = Data(repeating: UInt8(next), count: Int.random(in: 0...(Self.size / 3), using: &generator))
                Self.append(bytes, to: &chunks)
                expected += bytes
            } else {
                let held = chunks.count
                let chunk = chunks.take()
                #expect((chunk == nil) == (held == 0))
                received += chunk ?? Data()
            }
            #expect(chunks.count == expected.count - received.count)
        }
        while let chunk = chunks.take() { received += chunk }
        #expect(received == expected)
        #expect(chunks.count == 0)
    }

    @Test func bytesComeInFewChunksOfBoundedSize() {
        var chunks = ReceivedChunks(pool: BlockPool())
        Self.append(Data(count: Self.size * 2 + 10), to: &chunks)
        Self.append(Data(count: 10), to: &chunks)
        var sizes: [Int] = []
        while let chunk = chunks.take() { sizes.append(chunk.count) }
        #expect(sizes == [Self.size, Self.size, 20])
    }

    // A program that keeps a thousand short events must not keep a thousand blocks.
    @Test func aShortChunkKeepsNoBlock() {
        let pool = BlockPool()
        var chunks = ReceivedChunks(pool: pool)
        var kept: [Data] = []
        for byte in UInt8(0)..<100 {
            Self.append(Data([byte]), to: &chunks)
            if let chunk = chunks.take() { kept.append(chunk) }
            #expect(pool.idleCount == 1)
        }
        #expect(kept == (UInt8(0)..<100).map { Data([$0]) })
    }

    @Test func aLongChunkKeepsItsBlockUntilItIsLetGo() throws {
        let pool = BlockPool()
        var chunks = ReceivedChunks(pool: pool)
        Self.append(Data(repeating: 1, count: Self.size), to: &chunks)
        var chunk = chunks.take()
        let slice = try #require(chunk?.suffix(1))
        chunk = nil
        #expect(pool.idleCount == 0)
        // Bytes that are received meanwhile go into another block.
        Self.append(Data(repeating: 2, count: Self.size), to: &chunks)
        #expect(slice == Data([1]))
        withExtendedLifetime(slice) {}
        #expect(chunks.take()?.count == Self.size)
    }

    @Test func blocksComeBackWhenTheirChunksAreLetGo() {
        let pool = BlockPool()
        var chunks = ReceivedChunks(pool: pool)
        for _ in 0..<3 {
            Self.append(Data(repeating: 1, count: Self.size * 2), to: &chunks)
            #expect(chunks.take()?.count == Self.size)
            #expect(chunks.take()?.count == Self.size)
        }
        #expect(pool.idleCount == 2)
    }

    @Test func aReaderMayChangeAndExtendItsChunk() throws {
        let pool = BlockPool()
        var chunks = ReceivedChunks(pool: pool)
        Self.append(Data(repeating: 1, count: Self.size), to: &chunks)
        var chunk = try Self.take(from: &chunks)
        let copy = chunk
        chunk[0] = 7
        chunk.append(Data(repeating: 8, count: 1000))
        #expect(copy == Data(repeating: 1, count: Self.size))
        #expect(chunk.prefix(2) == Data([7, 1]))
        #expect(chunk.suffix(1001) == Data([1]) + Data(repeating: 8, count: 1000))
        #expect(pool.idleCount <= 1)
    }

    @Test func aReaderMayExtendAChunkThatNobodyElseHas() throws {
        let pool = BlockPool()
        var chunks = ReceivedChunks(pool: pool)
        Self.append(Data(repeating: 1, count: Self.size), to: &chunks)
        var chunk = try Self.take(from: &chunks)
        chunk.append(Data(repeating: 8, count: 1000))
        #expect(chunk == Data(repeating: 1, count: Self.size) + Data(repeating: 8, count: 1000))
        #expect(pool.idleCount == 1)
    }

    @Test func whatNobodyTakesGoesBackToThePool() {
        let pool = BlockPool()
        do {
            var chunks = ReceivedChunks(pool: pool)
            Self.append(Data(count: Self.size + 1), to: &chunks)
            chunks.removeAll()
            #expect(pool.idleCount == 2)
            #expect(chunks.count == 0)
            #expect(chunks.take() == nil)
            Self.append(Data(count: Self.size * 2 + 1), to: &chunks)
        }
        #expect(pool.idleCount == 3)
    }

    @Test func aPoolKeepsFewBlocks() {
        let pool = BlockPool()
        do {
            var chunks = ReceivedChunks(pool: pool)
            Self.append(Data(count: Self.size * 20), to: &chunks)
        }
        #expect(pool.idleCount == 8)
    }

    @Test func manyBlocksInUseAreNotPlentiful() {
        let pool = BlockPool()
        var chunks = ReceivedChunks(pool: pool)
        Self.append(Data(count: Self.size * 31), to: &chunks)
        #expect(pool.isPlentiful)
        let chunk = chunks.take()
        Self.append(Data(count: 1), to: &chunks)
        #expect(!pool.isPlentiful)
        withExtendedLifetime(chunk) {}
        chunks.removeAll()
        #expect(pool.isPlentiful)
    }
}
#endif
