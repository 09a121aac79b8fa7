internal import Interceptors
internal import InterceptorsSyntax

/// A version of a resource, with a strong entity tag, which tells versions apart byte by byte (RFC 9110 §8.8.1).
struct Representation: Codable, Sendable, Hashable {
    /// The entity tag as the server sent it, and as `If-Range` carries it (§13.1.5).
    let tag: String
    /// The number of bytes of the whole.
    let total: Int64
}

extension Representation {
    /// Longer tags aren't kept, because a record on the disk has a fixed size.
    private static let tagLimit = 400

    /// The representation in a complete response, or `nil` if no later request could ask for the rest.
    ///
    /// Coded content is never kept: a range would count coded bytes. A decoded body has lost its
    /// `Content-Length`, so content that a transport decoded isn't kept either.
    init?(of fields: HTTPFields) {
        guard !ContentDecoding.isCoded(fields), let total = fields.contentLength, total > 0,
            fields[.acceptRanges]?.lowercased() != "none", let tag = fields.entityTag, !tag.isWeak,
            tag.opaque.allSatisfy({ $0 < 0x80 }), tag.description.utf8.count <= Self.tagLimit
        else { return nil }
        self.init(tag: tag.description, total: total)
    }

    /// Whether a partial response can belong to this representation (§15.3.7).
    func isConfirmed(by fields: HTTPFields) -> Bool {
        guard let own = EntityTag(tag), let sent = fields.entityTag else { return false }
        return sent.matchesStrongly(own)
    }
}

extension HTTPFields {
    /// The `ETag`; `nil` if there is none, or more than one.
    fileprivate var entityTag: EntityTag? {
        let values = self[values: .eTag]
        return values.count == 1 ? EntityTag(values[0]) : nil
    }

    /// The `Content-Length`; `nil` if it is missing or isn't a number.
    var contentLength: Int64? {
        guard let text = self[.contentLength], !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text)
    }
}
