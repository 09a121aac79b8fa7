internal import Foundation
internal import InterceptorsTransport

/// Splits redacted content where the original was split, so that a stream keeps its rhythm.
///
/// Lines correspond to each other, if both contents have as many. A chunk that ended in what a line shares with its original at either end,
/// ends there again. One that ended in between, where something was replaced, ends behind it.
enum ChunkSplit {
    /// A line in both contents, and how many bytes they share at its beginning and at its end.
    private struct Line {
        let original: Range<Int>
        let redacted: Range<Int>
        let first: Int
        let last: Int

        init(_ original: ArraySlice<UInt8>, _ redacted: ArraySlice<UInt8>) {
            (self.original, self.redacted) = (original.indices, redacted.indices)
            first = zip(original, redacted).prefix { $0 == $1 }.count
            let rest = zip(original.dropFirst(first).reversed(), redacted.dropFirst(first).reversed())
            last = rest.prefix { $0 == $1 }.count
        }

        func redactedOffset(of offset: Int) -> Int {
            let count = offset - original.lowerBound
            return count <= first
                ? redacted.lowerBound + count : redacted.upperBound - min(last, original.upperBound - offset)
        }
    }

    /// The redacted content in chunks like those of the original.
    static func chunks(like chunks: [StubAnswer.Chunk], of original: Data, _ redacted: Data) -> [StubAnswer.Chunk] {
        guard chunks.count > 1 else { return [StubAnswer.Chunk(redacted, after: chunks.first?.pause ?? .zero)] }
        let bytes = [Array(original), Array(redacted)]
        var split = bytes.map(lines)
        if split[0].count != split[1].count { split = bytes.map { [$0[...]] } }
        let lines = zip(split[0], split[1]).map { Line($0, $1) }
        // Offsets only grow, so no line is looked at twice.
        var (offset, start, line) = (0, 0, 0)
        return chunks.enumerated().map { index, chunk in
            offset += chunk.bytes.count
            while line < lines.count, lines[line].original.upperBound < offset { line += 1 }
            let isLast = index == chunks.count - 1 || line == lines.count
            let end = isLast ? redacted.count : lines[line].redactedOffset(of: offset)
            defer { start = end }
            return StubAnswer.Chunk(Data(bytes[1][start..<end]), after: chunk.pause)
        }
    }

    /// The lines, each with its line feed.
    private static func lines(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? text.count
            lines.append(text[start..<end])
            start = end
        }
        return lines
    }
}
