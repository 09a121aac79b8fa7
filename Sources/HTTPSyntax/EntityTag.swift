/// An entity tag: an opaque validator from the server (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    package let isWeak: Bool
    /// The bytes between the quotes.
    package let opaque: [UInt8]

    /// Returns `nil` unless the text is exactly one tag.
    package init?(_ text: String) {
        var cursor = FieldCursor(text)
        cursor.skipWhitespace()
        guard let tag = Self.take(&cursor) else { return nil }
        cursor.skipWhitespace()
        guard cursor.isAtEnd else { return nil }
        self = tag
    }

    private init(isWeak: Bool, opaque: [UInt8]) {
        self.isWeak = isWeak
        self.opaque = opaque
    }

    // Tags have no escapes.
    /// Takes the next tag of a list; `nil` if no tag comes next.
    package static func take(_ cursor: inout FieldCursor) -> EntityTag? {
        let isWeak = cursor.take("W")
        if isWeak && !cursor.take("/") { return nil }
        guard cursor.take("\"") else { return nil }
        let opaque = cursor.takeWhile { $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }
        return cursor.take("\"") ? EntityTag(isWeak: isWeak, opaque: Array(opaque)) : nil
    }

    /// Whether both tags are strong and equal (RFC 9110 §8.8.3.2).
    package func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Whether both tags are equal, strong or weak (RFC 9110 §8.8.3.2).
    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

    package var description: String { (isWeak ? "W/" : "") + "\"" + String(decoding: opaque, as: UTF8.self) + "\"" }
}
