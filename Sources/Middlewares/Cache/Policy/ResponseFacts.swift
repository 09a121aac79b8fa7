internal import InterceptorsCore
internal import InterceptorsSyntax

/// The parsed fields of a stored response, as far as they affect its use. Parsed once, because each request needs them.
final class ResponseFacts: Sendable {
    /// The parsed `Expires` field.
    enum Expiry {
        case absent
        /// Not a date, or several different dates: the response counts as expired (RFC 9111 §4.2.1, §5.3).
        case invalid
        case at(Int64)
    }

    /// The dates from which the lifetime of a response without `max-age` is computed.
    struct Dates {
        let date: Int64?
        let expiry: Expiry
        let lastModified: Int64?
    }

    let directives: CacheControl
    /// The request fields that `Vary` names; `nil` if no request can select the response.
    let selectors: [HTTPField.Name]?
    /// Whether there is an `ETag` or `Last-Modified` field, even a malformed one.
    let hasValidator: Bool
    /// Whether there is an `Expires` field.
    let hasExpiry: Bool
    /// The date in `Date`, if it can be parsed.
    let date: Int64?
    /// The dates, or `nil` if `max-age` gives the lifetime.
    let dates: Dates?

    /// - Parameters:
    ///   - arrival: the date of a response without a `Date` field.
    ///   - present: the names among the fields, if they have been collected before.
    init(_ fields: HTTPFields, now: Int64, arrival: Int64? = nil, present: ResponseFieldSet? = nil) {
        let present = present ?? ResponseFieldSet(fields)
        directives = present.contains(.cacheControl) ? CacheControl(fields) : CacheControl()
        selectors = present.contains(.vary) ? Self.selectors(fields) : []
        hasValidator = !present.isDisjoint(with: [.eTag, .lastModified])
        hasExpiry = present.contains(.expires)
        date = present.contains(.date) ? CachePolicy.date(fields, .date, now: now) : nil
        dates =
            directives.maxAge.isPresent
            ? nil
            : Dates(
                date: date ?? arrival,
                expiry: hasExpiry ? Self.expiry(fields, now: now) : .absent,
                lastModified: present.contains(.lastModified) ? CachePolicy.date(fields, .lastModified, now: now) : nil
            )
    }

    private static func selectors(_ fields: HTTPFields) -> [HTTPField.Name]? {
        guard case .names(let names) = VaryField(fields) else { return nil }
        return names.compactMap { HTTPField.Name($0) }
    }

    private static func expiry(_ fields: HTTPFields, now: Int64) -> Expiry {
        let values = Set(fields[values: .expires])
        guard let text = values.first else { return .absent }
        guard values.count == 1, let end = HTTPDate.parse(text, now: now) else { return .invalid }
        return .at(end)
    }
}
