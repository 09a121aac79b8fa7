internal import Interceptors
internal import InterceptorsSyntax

/// A version of a resource, with a validator strong enough to request the rest of it.
struct Representation: Codable, Sendable, Hashable {
    /// The value of `If-Range` (RFC 9110 §13.1.5): a strong entity tag, or a strong date. Either tells versions apart byte by byte
    /// (§8.8.1).
    let validator: String
    /// The number of bytes of the whole.
    let total: Int64
}

extension Representation {
    /// Longer tags aren't kept, because a record on the disk has a fixed size.
    private static let tagLimit = 400
    /// §8.8.2.2 asks for a second between `Last-Modified` and `Date`, and for a reason to believe that both times are of one clock. A
    /// minute makes up for clocks that differ a little.
    private static let distance: Int64 = 60

    /// The representation in a complete response, or `nil` if no later request could ask for the rest.
    ///
    /// Coded content is never kept: a range would count coded bytes. A decoded body has lost its
    /// `Content-Length`, so content that a transport decoded isn't kept either.
    init?(of fields: HTTPFields) {
        guard !ContentDecoding.isCoded(fields), let total = fields.contentLength, total > 0,
            fields[.acceptRanges]?.lowercased() != "none", let validator = Self.validator(of: fields)
        else { return nil }
        self.init(validator: validator, total: total)
    }

    private static func validator(of fields: HTTPFields) -> String? {
        // §13.1.5: with an entity tag, even a weak one, the date must not be used.
        guard !fields.contains(.eTag) else {
            guard let tag = fields.entityTag, !tag.isWeak, tag.opaque.allSatisfy({ $0 < 0x80 }),
                tag.description.utf8.count <= tagLimit
            else { return nil }
            return tag.description
        }
        // A date doesn't tell apart two representations that were made at once, one for each user or language.
        let selecting = fields[values: .vary].flatMap(TokenList.firstWords)
        guard let modified = fields.time(.lastModified), let date = fields.time(.date), date - modified >= distance,
            selecting.allSatisfy({ $0 == "accept-encoding" || $0 == "origin" })
        else { return nil }
        return fields[.lastModified]
    }

    /// Whether a partial response can belong to this representation. A response to `If-Range` may leave out `Last-Modified`, but not
    /// `ETag` (§15.3.7).
    func isConfirmed(by fields: HTTPFields) -> Bool {
        guard let tag = EntityTag(validator) else {
            return fields[values: .lastModified].allSatisfy { $0 == validator }
        }
        return fields.entityTag?.matchesStrongly(tag) == true
    }
}

extension HTTPFields {
    /// The only `ETag`; `nil` for no field or several.
    fileprivate var entityTag: EntityTag? {
        let values = self[values: .eTag]
        return values.count == 1 ? EntityTag(values[0]) : nil
    }

    /// The time of a field, in seconds; `nil` without exactly one date.
    fileprivate func time(_ name: HTTPField.Name) -> Int64? {
        let values = self[values: name]
        // A date with a two-digit year is of the last century; no server has sent one for decades.
        return values.count == 1 ? HTTPDate.parse(values[0], now: 0) : nil
    }

    /// The `Content-Length`; `nil` if it is missing or isn't a number.
    var contentLength: Int64? {
        guard let text = self[.contentLength], !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text)
    }
}
