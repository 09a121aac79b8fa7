#if os(Linux)
import Foundation
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct ChunkQueueTests {
    private static func fill(_ count: Int, from queue: inout ChunkQueue) -> Data {
        var buffer = Data(count: count)
        let filled = buffer.withUnsafeMutableBytes { queue.take(into: $0) }
        return buffer.prefix(filled)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func whatGoesInComesOutInOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (queue, expected, received, next) = (ChunkQueue(), Data(), Data(), UInt8(0))
        for _ in 0..<2000 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                let chunk = Data(
                    (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                        next &+= 1
                        return next
                    }
                )
                queue.append(chunk)
                expected += chunk
            default:
                received += Self.fill(Int.random(in: 0...60, using: &generator), from: &queue)
            }
            #expect(queue.count == expected.count - received.count)
        }
        received += Self.fill(queue.count + 1, from: &queue)
        #expect(received == expected)
        #expect(queue.count == 0)
    }

    // A queue that is never empty must still release the chunks that were taken.
    @Test func whatWasTakenIsLetGoWhileMoreIsHeld() {
        let freed = Atomic(0)
        var queue = ChunkQueue()
        func append() {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1000, alignment: 1)
            bytes.initializeMemory(as: UInt8.self, repeating: 7, count: 1000)
            queue.append(
                Data(
                    bytesNoCopy: bytes,
                    count: 1000,
                    deallocator: .custom { pointer, _ in
                        pointer.deallocate()
                        freed.add(1, ordering: .relaxed)
                    }
                )
            )
        }
        append()
        for round in 1...100 {
            append()
            #expect(Self.fill(1000, from: &queue).count == 1000)
            #expect(freed.load(ordering: .relaxed) == round)
            #expect(queue.count == 1000)
        }
    }
}
#endif
