internal import InterceptorsCore
internal import InterceptorsSyntax

extension EntityTag {
    /// The tag of a response; `nil` if it has no tag, or a malformed one.
    init?(of response: HTTPFields) {
        guard let text = response[.eTag] else { return nil }
        self.init(text)
    }
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
