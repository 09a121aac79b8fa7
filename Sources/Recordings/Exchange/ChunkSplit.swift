internal import Foundation
internal import Transport

/// Splits redacted content where the original was split, so that a stream keeps its rhythm.
///
/// The text between two placeholders is the same in both contents. A chunk that ended within a secret ends after the placeholder.
struct ChunkSplit {
    private let original: [UInt8]
    private let redacted: [UInt8]
    /// The ranges that both contents share, in order.
    private var kept: [(original: Range<Int>, redacted: Range<Int>)] = []

    /// - Parameter placeholder: the text in place of each secret. Any other difference ends the comparison. The chunk in which the
    ///   difference lies gets all the rest, and the chunks behind are empty.
    init(original: Data, redacted: Data, placeholder: String) {
        self.original = Array(original)
        self.redacted = Array(redacted)
        var (inOriginal, inRedacted) = (0, 0)
        let mark = Array(placeholder.utf8)
        guard !mark.isEmpty else { return }
        while inRedacted < self.redacted.count {
            let rest = self.redacted[inRedacted...]
            let end = rest.firstRange(of: mark)?.lowerBound ?? self.redacted.count
            guard let found = Self.find(rest[..<end], in: self.original[inOriginal...], isLast: end == rest.endIndex)
            else { return }
            kept.append((found, inRedacted..<end))
            inOriginal = found.upperBound
            inRedacted = min(end + mark.count, self.redacted.count)
        }
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
        // Within the secret before this text: the chunk ends after the placeholder.
        return redacted.lowerBound + max(0, offset - original.lowerBound)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func endsWith(_ other: ArraySlice<UInt8>) -> Bool {
        count >= other.count && suffix(other.count).elementsEqual(other)
    }
}
