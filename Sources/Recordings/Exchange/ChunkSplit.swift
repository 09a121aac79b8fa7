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

    /// - Parameter placeholder: the text in place of each secret. Other differences end the comparison, and the last chunk holds
    ///   the rest.
    init(original: Data, redacted: Data, placeholder: String?) {
        self.original = Array(original)
        self.redacted = Array(redacted)
        var (inOriginal, inRedacted) = (0, 0)
        let mark = Array((placeholder ?? Redaction.standard.placeholder).utf8)
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
        var (offset, start) = (0, 0)
        return chunks.enumerated().map { index, chunk in
            offset += chunk.bytes.count
            let end = index == chunks.count - 1 ? redacted.count : max(start, redactedOffset(of: offset))
            defer { start = end }
            return StubAnswer.Chunk(Data(redacted[start..<end]), after: chunk.pause)
        }
    }

    private func redactedOffset(of offset: Int) -> Int {
        for (original, redacted) in kept where offset <= original.upperBound {
            // Within the secret before this text: the chunk ends after the placeholder.
            return redacted.lowerBound + max(0, offset - original.lowerBound)
        }
        return redacted.count
    }
}

extension ArraySlice<UInt8> {
    fileprivate func endsWith(_ other: ArraySlice<UInt8>) -> Bool {
        count >= other.count && suffix(other.count).elementsEqual(other)
    }
}
