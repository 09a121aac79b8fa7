internal import Interceptors
internal import InterceptorsSyntax

/// A version of a resource, with a validator strong enough to request the rest of it.
struct Representation: Codable, Sendable, Hashable {
    /// Tells versions apart byte by byte (RFC 9110 §8.8.1).
    let validator: RangeValidator
    /// The number of bytes of the whole.
    let total: Int64
}

extension Representation {
    /// The representation in a complete response, or `nil` if no later request could ask for the rest.
    ///
    /// Coded content is never kept: a range would count coded bytes. A decoded body has lost its
    /// `Content-Length`, so content that a transport decoded isn't kept either.
    init?(of fields: HTTPFields) {
        guard !ContentDecoding.isCoded(fields), let total = fields.contentLength, total > 0,
            let validator = RangeValidator(of: fields), fields[.acceptRanges]?.lowercased() != "none"
        else { return nil }
        self.init(validator: validator, total: total)
    }
}

/// A validator that `If-Range` may carry (RFC 9110 §13.1.5).
enum RangeValidator: Codable, Sendable, Hashable {
    /// A strong entity tag, as the server sent it.
    case entityTag(String)
    /// A `Last-Modified` that is strong by its distance from `Date`.
    case lastModified(String)

    /// The value of `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Longer tags aren't kept, because a record on the disk has a fixed size.
    private static let lengthLimit = 400
    /// RFC 9110 §8.8.2.2 asks for a second, and for a reason to believe that both times are of one clock. A minute makes up for
    /// clocks that differ a little.
    private static let distance: Int64 = 60

    /// The validator of a response; `nil` if it has no strong one.
    init?(of fields: HTTPFields) {
        if fields.contains(.eTag) {
            // §13.1.5: with an entity tag, even a weak one, the date must not be used.
            guard fields[values: .eTag].count == 1, let text = fields[.eTag], let tag = EntityTag(text), !tag.isWeak,
                tag.opaque.allSatisfy({ $0 < 0x80 }), text.utf8.count <= Self.lengthLimit
            else { return nil }
            self = .entityTag(tag.description)
        } else {
            guard let modified = Self.date(fields, .lastModified), let date = Self.date(fields, .date),
                date - modified >= Self.distance, !Self.varies(fields), let text = fields[.lastModified]
            else { return nil }
            self = .lastModified(text)
        }
    }

    /// Whether a partial response can belong to the representation with this validator.
    ///
    /// A response to `If-Range` may leave out `Last-Modified`, but not `ETag` (RFC 9110 §15.3.7).
    func isConfirmed(by fields: HTTPFields) -> Bool {
        switch self {
        case .entityTag(let text):
            guard fields[values: .eTag].count == 1, let own = EntityTag(text), let sent = fields[.eTag] else {
                return false
            }
            return EntityTag(sent)?.matchesStrongly(own) == true
        case .lastModified(let text):
            return fields[values: .lastModified].allSatisfy { $0 == text }
        }
    }

    private static func date(_ fields: HTTPFields, _ name: HTTPField.Name) -> Int64? {
        let values = fields[values: name]
        // A date with a two-digit year is of the last century; no server has sent one for decades.
        return values.count == 1 ? HTTPDate.parse(values[0], now: 0) : nil
    }

    // A date doesn't tell apart two representations that were made at once, one for each user or language.
    private static func varies(_ fields: HTTPFields) -> Bool {
        fields[values: .vary].flatMap(TokenList.firstWords).contains { $0 != "accept-encoding" && $0 != "origin" }
    }
}

extension HTTPFields {
    /// The `Content-Length`; `nil` if it is missing or isn't a number.
    var contentLength: Int64? {
        guard let text = self[.contentLength], !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text)
    }
}
