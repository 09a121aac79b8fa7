#if os(Linux)
internal import Foundation

/// Bytes in the chunks in which they came. What has been taken is let go chunk by chunk, however long others follow.
struct ChunkQueue {
    /// What chunks that are joined grow to.
    static let joinedSize = 64 * 1024

    private static let longPiece = 8 * 1024

    private var chunks: [Data] = []
    private var first = 0

    /// The bytes that are held.
    private(set) var count = 0

    mutating func append(_ chunk: Data) {
        guard !chunk.isEmpty else { return }
        chunks.append(chunk)
        count += chunk.count
    }

    /// Adds a copy of bytes: to the last chunk, as long as that stays short, since a reader is better served with few chunks
    /// than with many.
    mutating func append(joining bytes: UnsafeRawBufferPointer) {
        guard first < chunks.count, chunks[chunks.count - 1].count + bytes.count <= Self.joinedSize else {
            return appendCopy(of: bytes)
        }
        chunks[chunks.count - 1].append(contentsOf: bytes)
        count += bytes.count
    }

    private mutating func appendCopy(of bytes: UnsafeRawBufferPointer) {
        // Long pieces seldom come alone: one that was made room for need not be moved.
        guard bytes.count >= Self.longPiece else { return append(Data(bytes)) }
        var chunk = Data()
        chunk.reserveCapacity(max(Self.joinedSize, bytes.count))
        chunk.append(contentsOf: bytes)
        append(chunk)
    }

    /// The next chunk, or what is left of it.
    mutating func take() -> Data? {
        guard first < chunks.count else { return nil }
        let chunk = chunks[first]
        count -= chunk.count
        advance()
        return chunk
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
