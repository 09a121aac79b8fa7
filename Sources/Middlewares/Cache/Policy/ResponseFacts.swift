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
    /// `nil` where `max-age` says it.
    let dates: Dates?

    /// - Parameter date: what `Date` says, if that has been read.
    init(_ fields: HTTPFields, now: Int64, date: Int64? = nil) {
        directives = CacheControl(fields)
        selectors =
            if case .names(let names) = VaryField(fields) {
                names.compactMap { HTTPField.Name($0) }
            } else {
                nil
            }
        dates =
            directives.maxAge.isPresent
            ? nil
            : Dates(
                date: date ?? CachePolicy.date(fields, .date, now: now),
                expiry: Self.expiry(fields, now: now),
                lastModified: CachePolicy.date(fields, .lastModified, now: now)
            )
    }

    private static func expiry(_ fields: HTTPFields, now: Int64) -> Expiry {
        guard fields.contains(.expires) else { return .absent }
        let values = Set(fields[values: .expires])
        guard let text = values.first else { return .absent }
        guard values.count == 1, let end = HTTPDate.parse(text, now: now) else { return .invalid }
        return .at(end)
    }
}
