#if os(Linux)
internal import Foundation

/// Bytes in the chunks in which they came. What has been taken is let go chunk by chunk, however long others follow.
struct ChunkQueue {
    private var chunks: [Data] = []
    private var first = 0

    /// The bytes that are held.
    private(set) var count = 0

    mutating func append(_ chunk: Data) {
        guard !chunk.isEmpty else { return }
        chunks.append(chunk)
        count += chunk.count
    }

    /// Fills a buffer as far as there are bytes, and says how many it took.
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
        // The places of those that were taken go when they are the most.
        guard first * 2 >= chunks.count else { return }
        chunks.removeFirst(first)
        first = 0
    }
}
#endif
