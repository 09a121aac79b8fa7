internal import HTTPSyntax
internal import Interceptors

/// An entity tag: an opaque validator from the server (RFC 9110 §8.8.3).
struct EntityTag: Hashable, CustomStringConvertible {
    let isWeak: Bool
    /// The bytes between the quotes.
    let opaque: [UInt8]

    /// Returns `nil` unless the text is exactly one tag.
    init?(_ text: String) {
        var cursor = FieldCursor(text)
        cursor.skipWhitespace()
        guard let tag = Self.take(&cursor) else { return nil }
        cursor.skipWhitespace()
        guard cursor.isAtEnd else { return nil }
        self = tag
    }

    /// The tag of a response; `nil` if it has no tag, or a malformed one.
    init?(of response: HTTPFields) {
        guard let text = response[.eTag] else { return nil }
        self.init(text)
    }

    private init(isWeak: Bool, opaque: [UInt8]) {
        self.isWeak = isWeak
        self.opaque = opaque
    }

    // Tags have no escapes.
    fileprivate static func take(_ cursor: inout FieldCursor) -> EntityTag? {
        let isWeak = cursor.take("W")
        if isWeak && !cursor.take("/") { return nil }
        guard cursor.take("\"") else { return nil }
        let opaque = cursor.takeWhile { $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }
        return cursor.take("\"") ? EntityTag(isWeak: isWeak, opaque: Array(opaque)) : nil
    }

    /// Whether both tags are strong and equal (RFC 9110 §8.8.3.2).
    func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Whether both tags are equal, strong or weak (RFC 9110 §8.8.3.2).
    func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

    var description: String { (isWeak ? "W/" : "") + "\"" + String(decoding: opaque, as: UTF8.self) + "\"" }
}

/// The value of `If-None-Match` (RFC 9110 §13.1.2).
enum EntityTagCondition: Equatable {
    case any
    case tags([EntityTag])

    /// The condition of a request; `nil` if the field is absent or malformed.
    init?(_ fields: HTTPFields) {
        guard let text = fields[.ifNoneMatch] else { return nil }
        var cursor = FieldCursor(text)
        cursor.skipWhitespace()
        if cursor.take("*") {
            cursor.skipWhitespace()
            guard cursor.isAtEnd else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        while !cursor.isAtEnd {
            if cursor.take(",") || cursor.skipWhitespace() { continue }
            guard let tag = EntityTag.take(&cursor) else { return nil }
            tags.append(tag)
            cursor.skipWhitespace()
            guard cursor.isAtEnd || cursor.peek == UInt8(ascii: ",") else { return nil }
        }
        if tags.isEmpty { return nil }
        self = .tags(tags)
    }

    func matches(_ tag: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { $0.matchesWeakly(tag) } } ?? false
        }
    }
}
