/// The value of `Content-Range` (RFC 9110 §14.4), for bytes.
package struct ContentRange: Sendable, Hashable, CustomStringConvertible {
    /// The range of the content; `nil` in a 416.
    package let bytes: Range<Int64>?
    /// The length of the complete representation, if it is known.
    package let total: Int64?

    package init(bytes: Range<Int64>?, total: Int64?) {
        self.bytes = bytes
        self.total = total
    }

    /// Returns `nil` unless the text is exactly one range of bytes, or the length of a 416.
    package init?(_ text: String) {
        var cursor = FieldCursor(text)
        guard cursor.takeLowercasedToken() == "bytes", cursor.take(" ") else { return nil }
        var bytes: Range<Int64>?
        if !cursor.take("*") {
            guard let first = cursor.takeNumber(), cursor.take("-"), let last = cursor.takeNumber(), last >= first,
                last < .max
            else { return nil }
            bytes = first..<(last + 1)
        }
        guard cursor.take("/") else { return nil }
        let total = cursor.take("*") ? nil : cursor.takeNumber()
        guard cursor.isAtEnd, text.utf8.last != UInt8(ascii: "/") else { return nil }
        if let bytes, let total, bytes.upperBound > total { return nil }
        if bytes == nil && total == nil { return nil }
        self.init(bytes: bytes, total: total)
    }

    package var description: String {
        let range = bytes.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
        return "bytes \(range)/\(total.map { String($0) } ?? "*")"
    }
}
