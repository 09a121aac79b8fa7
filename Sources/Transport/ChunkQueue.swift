package import Foundation

/// A queue of bytes, in chunks as they came. Each chunk is released as soon as it is read.
package struct ChunkQueue {
    private var chunks: [Data] = []
    private var first = 0

    package init() {}

    /// The number of slots, of unread and used chunks. For tests.
    package var places: Int { chunks.count }

    /// The bytes in the queue.
    package private(set) var count = 0

    package mutating func append(_ chunk: Data) {
        guard !chunk.isEmpty else { return }
        chunks.append(chunk)
        count += chunk.count
    }

    package mutating func take() -> Data? {
        guard first < chunks.count else { return nil }
        let chunk = chunks[first]
        count -= chunk.count
        advance()
        return chunk
    }

    /// Fills the buffer as far as possible, and returns the number of bytes copied.
    package mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count, first < chunks.count {
            let length = min(buffer.count - filled, chunks[first].count)
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + length])
            chunks[first].copyBytes(to: part, count: length)
            filled += length
            if length == chunks[first].count { advance() } else { chunks[first] = chunks[first].dropFirst(length) }
        }
        count -= filled
        return filled
    }

    private mutating func advance() {
        chunks[first] = Data()
        first += 1
        // Removes the slots of used chunks once they are half of the array, which amortizes the cost.
        guard first * 2 >= chunks.count else { return }
        chunks.removeFirst(first)
        first = 0
    }
}
