internal import Foundation

/// Splits redacted content where the original was split, so that a stream keeps its rhythm.
///
/// Lines correspond to each other, if both contents have as many. A chunk that ended at the end of a line ends there again. A chunk
/// that ended within a line ends as many bytes before the line's end, but not in an earlier line.
enum ChunkSplit {
    /// The redacted content in chunks like those of the original.
    static func chunks(like chunks: [StubAnswer.Chunk], of original: Data, _ redacted: Data) -> [StubAnswer.Chunk] {
        guard chunks.count > 1 else { return [StubAnswer.Chunk(redacted, after: chunks.first?.pause ?? .zero)] }
        let bytes = Array(redacted)
        var (old, new) = (lineEnds(Array(original)), lineEnds(bytes))
        if old.count != new.count { (old, new) = ([original.count], [redacted.count]) }
        // Offsets only grow, so no line is looked at twice.
        var (offset, start, line) = (0, 0, 0)
        return chunks.enumerated().map { index, chunk in
            offset += chunk.bytes.count
            while line < old.count - 1, old[line] < offset { line += 1 }
            let isLast = index == chunks.count - 1
            let lineStart = line > 0 ? new[line - 1] : 0
            let end = isLast ? redacted.count : max(start, lineStart, new[line] - (old[line] - offset))
            defer { start = end }
            return StubAnswer.Chunk(Data(bytes[start..<end]), after: chunk.pause)
        }
    }

    private static func lineEnds(_ text: [UInt8]) -> [Int] {
        text.indices.filter { text[$0] == UInt8(ascii: "\n") }.map { $0 + 1 } + [text.count]
    }
}
