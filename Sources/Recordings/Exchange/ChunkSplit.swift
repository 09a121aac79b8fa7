internal import Foundation
internal import InterceptorsTransport

/// Splits redacted content where the original was split, so that a stream keeps its rhythm.
///
/// The text between two replacements is the same in both contents, but for escapes in JSON. A chunk that ended within a secret, or
/// within text that changed, ends after the replacement.
struct ChunkSplit {
    private let original: [UInt8]
    private let redacted: [UInt8]
    /// The ranges that both contents share, in order.
    private var kept: [(original: Range<Int>, redacted: Range<Int>)] = []

    /// Compares two contents, line by line if they have as many lines, so that a difference in one line leaves the others alone.
    init(original: Data, redacted: Data) {
        self.original = Array(original)
        self.redacted = Array(redacted)
        let lines = (Self.lines(self.original), Self.lines(self.redacted))
        guard lines.0.count == lines.1.count else {
            compare(self.original[...], self.redacted[...])
            return
        }
        for (original, redacted) in zip(lines.0, lines.1) { compare(original, redacted) }
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

    /// Notes what two texts share: the parts between replacements. From any other difference on, only their common end.
    private mutating func compare(_ original: ArraySlice<UInt8>, _ redacted: ArraySlice<UInt8>) {
        var (rest, position) = (original, redacted.startIndex)
        while position < redacted.endIndex {
            let mark = Self.nextReplacement(in: redacted[position...])
            let text = redacted[position..<mark.lowerBound]
            guard let found = Self.find(text, in: rest, isLast: mark.isEmpty) else {
                return keepEnds(rest, redacted[position...], hasBeginning: position == redacted.startIndex)
            }
            kept.append((found, position..<mark.lowerBound))
            rest = rest[found.upperBound...]
            position = mark.upperBound
        }
    }

    /// - Parameter hasBeginning: whether the texts begin at the same point.
    private mutating func keepEnds(
        _ original: ArraySlice<UInt8>,
        _ redacted: ArraySlice<UInt8>,
        hasBeginning: Bool
    ) {
        let first = hasBeginning ? zip(original, redacted).prefix { $0 == $1 }.count : 0
        let (one, other) = (original.dropFirst(first), redacted.dropFirst(first))
        let last = zip(one.reversed(), other.reversed()).prefix { $0 == $1 }.count
        kept.append((original.prefix(first).indices, redacted.prefix(first).indices))
        kept.append((one.suffix(last).indices, other.suffix(last).indices))
    }

    private static let placeholder = Array(ExchangeRedaction.placeholder.utf8)

    /// The next placeholder, or the next 0 that is a JSON value, because it may replace another number. Empty, at the end, without a
    /// replacement.
    private static func nextReplacement(in rest: ArraySlice<UInt8>) -> Range<Int> {
        for index in rest.indices {
            if rest[index] == placeholder[0], rest[index...].starts(with: placeholder) {
                return index..<(index + placeholder.count)
            }
            guard rest[index] == UInt8(ascii: "0"), index > rest.startIndex, index + 1 < rest.endIndex else { continue }
            let (before, after) = (rest[index - 1], rest[index + 1])
            if before <= 0x20 || ":[,".utf8.contains(before), after <= 0x20 || ",]}".utf8.contains(after) {
                return index..<(index + 1)
            }
        }
        return rest.endIndex..<rest.endIndex
    }

    private static func find(
        _ text: ArraySlice<UInt8>,
        in rest: ArraySlice<UInt8>,
        isLast: Bool
    ) -> Range<Int>? {
        guard !text.isEmpty else { return rest.startIndex..<rest.startIndex }
        guard !isLast else { return rest.endsWith(text) ? (rest.endIndex - text.count)..<rest.endIndex : nil }
        return rest.firstRange(of: text)
    }

    func chunks(like chunks: [StubAnswer.Chunk]) -> [StubAnswer.Chunk] {
        guard chunks.count > 1 else { return [StubAnswer.Chunk(Data(redacted), after: chunks.first?.pause ?? .zero)] }
        var (offset, start, next) = (0, 0, 0)
        return chunks.enumerated().map { index, chunk in
            offset += chunk.bytes.count
            let end = index == chunks.count - 1 ? redacted.count : max(start, redactedOffset(of: offset, from: &next))
            defer { start = end }
            return StubAnswer.Chunk(Data(redacted[start..<end]), after: chunk.pause)
        }
    }

    /// - Parameter next: the first range that may hold the offset. Offsets only grow, so no range is looked at twice.
    private func redactedOffset(of offset: Int, from next: inout Int) -> Int {
        while next < kept.count, kept[next].original.upperBound < offset { next += 1 }
        guard next < kept.count else { return redacted.count }
        let (original, redacted) = kept[next]
        // Within the secret before this text: the chunk ends after its replacement.
        return redacted.lowerBound + max(0, offset - original.lowerBound)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func endsWith(_ other: ArraySlice<UInt8>) -> Bool {
        count >= other.count && suffix(other.count).elementsEqual(other)
    }
}
