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
    /// The dates, or `nil` if `max-age` gives the lifetime.
    let dates: Dates?

    init(_ fields: HTTPFields, now: Int64) {
        directives = CacheControl(fields)
        selectors = Self.selectors(fields)
        hasValidator = fields.contains(.eTag) || fields.contains(.lastModified)
        hasExpiry = fields.contains(.expires)
        dates =
            directives.maxAge.isPresent
            ? nil
            : Dates(
                date: CachePolicy.date(fields, .date, now: now),
                expiry: Self.expiry(fields, now: now),
                lastModified: CachePolicy.date(fields, .lastModified, now: now)
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
