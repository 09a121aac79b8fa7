#if os(Linux)
internal import Foundation

/// A queue of bytes, in chunks as they came. Each chunk is released as soon as it is read.
struct ChunkQueue {
    private var chunks: [Data] = []
    private var first = 0

    /// The bytes in the queue.
    private(set) var count = 0

    mutating func append(_ chunk: Data) {
        guard !chunk.isEmpty else { return }
        chunks.append(chunk)
        count += chunk.count
    }

    /// Fills the buffer as far as possible, and returns the number of bytes copied.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
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
#endif
