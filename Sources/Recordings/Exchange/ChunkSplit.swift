internal import Foundation
internal import Transport

/// Splits redacted content where the original was split, so that a stream keeps its rhythm.
///
/// The text between two replacements is the same in both contents. A chunk that ended within a secret ends after the replacement.
struct ChunkSplit {
    private let original: [UInt8]
    private let redacted: [UInt8]
    /// The ranges that both contents share, in order.
    private var kept: [(original: Range<Int>, redacted: Range<Int>)] = []

    /// Compares two contents. Any difference but a replaced secret ends the comparison: the chunk in which the difference lies gets
    /// all the rest, and the chunks behind are empty.
    init(original: Data, redacted: Data) {
        self.original = Array(original)
        self.redacted = Array(redacted)
        var (inOriginal, inRedacted) = (0, 0)
        while inRedacted < self.redacted.count {
            let mark = Self.nextReplacement(in: self.redacted[inRedacted...])
            let text = self.redacted[inRedacted..<mark.lowerBound]
            guard let found = Self.find(text, in: self.original[inOriginal...], isLast: mark.isEmpty) else { return }
            kept.append((found, inRedacted..<mark.lowerBound))
            (inOriginal, inRedacted) = (found.upperBound, mark.upperBound)
        }
    }

    private static let placeholder = Array(ExchangeRedaction.placeholder.utf8)

    /// The next placeholder, or 0 as a value of JSON, which may have been another number; the empty range at the end if there is none.
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
