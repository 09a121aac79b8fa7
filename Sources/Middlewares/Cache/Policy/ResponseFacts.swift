internal import HTTPSyntax
internal import Interceptors

/// What the fields of a stored response say about its use: read once, since each request for it asks.
final class ResponseFacts: Sendable {
    /// What `Expires` says.
    enum Expiry {
        case absent
        /// No date, or several that differ: it counts as expired (RFC 9111 §4.2.1, §5.3).
        case invalid
        case at(Int64)
    }

    /// The dates that tell for how long a response without `max-age` is fresh.
    struct Dates {
        let date: Int64?
        let expiry: Expiry
        let lastModified: Int64?
    }

    let directives: CacheControl
    /// The request fields that it was selected by; `nil` if no request is ever known to select it.
    let selectors: [HTTPField.Name]?
    /// Whether there is a field to validate it by, legible or not.
    let hasValidator: Bool
    /// Whether there is a field `Expires`.
    let hasExpiry: Bool
    /// What `Date` says, if that can be read.
    let date: Int64?
    /// `nil` where `max-age` says it.
    let dates: Dates?

    /// - Parameters:
    ///   - arrival: the date of a response that has none.
    ///   - present: what there is among the fields, if they have been looked through.
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
