internal import Foundation
internal import InterceptorsSyntax

/// The parts of content with a boundary (RFC 2046 §5.1).
package struct MultipartContent {
    package struct Part {
        /// The lines before the empty one, without the last line break.
        package var head: Range<Int>
        package var body: Range<Int>
    }

    package let bytes: [UInt8]
    package let parts: [Part]

    /// `nil` if there is no part, or if the last one doesn't end.
    ///
    /// - Parameter mayBeCut: whether the content may end within a part.
    package init?(_ bytes: [UInt8], boundary: String, mayBeCut: Bool = false) {
        let delimiter = Array("--\(boundary)".utf8)
        var (parts, start, position, isClosed): ([Part], Int?, Int, Bool) = ([], nil, 0, false)
        while let found = Self.delimiter(delimiter, in: bytes, from: position) {
            if let start {
                // The line break before a delimiter belongs to the delimiter.
                var end = found
                if end > start, bytes[end - 1] == 0x0A { end -= 1 }
                if end > start, bytes[end - 1] == 0x0D { end -= 1 }
                parts.append(Self.part(bytes, start..<end))
            }
            let rest = bytes[(found + delimiter.count)...]
            isClosed = rest.starts(with: "--".utf8)
            start = isClosed ? nil : rest.firstIndex(of: 0x0A).map { $0 + 1 }
            guard let start else { break }
            position = start
        }
        if let start { parts.append(Self.part(bytes, start..<bytes.count)) }
        guard isClosed || mayBeCut, !parts.isEmpty else { return nil }
        (self.bytes, self.parts) = (bytes, parts)
    }

    /// The parameter `name`, or `name*` (RFC 8187), of a part's `Content-Disposition`.
    package func name(of part: Part) -> String? {
        guard let disposition = field("content-disposition", of: part).map({ MediaType($0) }) else { return nil }
        let encoded = disposition.parameter("name*")?.split(separator: "'", omittingEmptySubsequences: false).last
        return encoded.map { String(decoding: Array($0.utf8).percentDecoded, as: UTF8.self) }
            ?? disposition.parameter("name")
    }

    package func contentType(of part: Part) -> String? { field("content-type", of: part) }

    private func field(_ name: String, of part: Part) -> String? {
        for line in String(decoding: bytes[part.head], as: UTF8.self).split(whereSeparator: \.isNewline) {
            let own = line.prefix { $0 != ":" }
            if own.lowercased() == name { return String(line.dropFirst(own.count + 1)) }
        }
        return nil
    }

    /// The content with other bytes in the bodies of some parts, given by their indices.
    package func replacing(_ bodies: [Int: [UInt8]]) -> [UInt8] {
        var result: [UInt8] = []
        var copied = 0
        for (index, body) in bodies.sorted(by: { $0.key < $1.key }) {
            result += bytes[copied..<parts[index].body.lowerBound]
            result += body
            copied = parts[index].body.upperBound
        }
        return result + bytes[copied...]
    }

    /// The parts alone, without what is before and after them.
    ///
    /// - Parameter head: returns what to show of a part's head.
    func onlyParts(_ bodies: [Int: [UInt8]], boundary: String, head: ([UInt8]) -> [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for (index, part) in parts.enumerated() {
            result += "--\(boundary)\n".utf8
            result += head(Array(bytes[part.head])) + [0x0A]
            result += bodies[index] ?? Array(bytes[part.body])
            result += [0x0A]
        }
        return result + "--\(boundary)--".utf8
    }

    private static func delimiter(_ delimiter: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var rest = bytes[start...]
        while let found = rest.firstRange(of: delimiter) {
            let isAtStart = found.lowerBound == 0 || bytes[found.lowerBound - 1] == 0x0A
            if isAtStart, endsLine(bytes[found.upperBound...]) { return found.lowerBound }
            rest = rest[found.upperBound...]
        }
        return nil
    }

    /// Whether a delimiter ends here. The boundary of a nested part may begin with that of its parent.
    private static func endsLine(_ rest: ArraySlice<UInt8>) -> Bool {
        if rest.starts(with: "--".utf8) { return true }
        let next = rest.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }
        return next == nil || next == 0x0A
    }

    private static func part(_ bytes: [UInt8], _ range: Range<Int>) -> Part {
        var line = range.lowerBound
        while line < range.upperBound {
            let end = bytes[line..<range.upperBound].firstIndex(of: 0x0A) ?? range.upperBound
            if bytes[line..<end].allSatisfy({ $0 == 0x0D }) {
                return Part(head: range.lowerBound..<line, body: min(end + 1, range.upperBound)..<range.upperBound)
            }
            line = min(end + 1, range.upperBound)
        }
        // Without an empty line, nobody knows which lines are the head.
        return Part(head: range.lowerBound..<range.lowerBound, body: range)
    }
}
