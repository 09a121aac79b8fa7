internal import InterceptorsCore
internal import InterceptorsSyntax

/// The parsed fields of a stored response, as far as they affect its use. Parsed once, because each request needs them.
final class ResponseFacts: Sendable {
    let directives: CacheControl
    /// The request fields that `Vary` names; `nil` if no request can select the response.
    let selectors: [HTTPField.Name]?
    /// Whether there is an `ETag` or `Last-Modified` field, even a malformed one.
    let hasValidator: Bool
    /// Whether there is an `Expires` field.
    let hasExpiry: Bool
    /// For how many seconds the response is fresh (`freshness_lifetime`, RFC 9111 §4.2.1).
    let lifetime: Int64

    init(_ response: CachedResponse) {
        let fields = response.headers
        directives = CacheControl(fields)
        selectors = VaryField(fields).names?.compactMap { HTTPField.Name($0) }
        hasValidator = fields.contains(.eTag) || fields.contains(.lastModified)
        hasExpiry = fields.contains(.expires)
        lifetime = Self.lifetime(of: response, directives)
    }

    private static func lifetime(of response: CachedResponse, _ directives: CacheControl) -> Int64 {
        if directives.maxAge.isPresent { return directives.maxAge.value ?? 0 }
        let (fields, now) = (response.headers, response.responseTime)
        let date = CachePolicy.date(fields, .date, now: now) ?? now
        let expiries = Set(fields[values: .expires])
        if let expiry = expiries.first {
            // Anything but a date, or several different dates: the response counts as expired (§4.2.1, §5.3).
            guard expiries.count == 1, let end = HTTPDate.parse(expiry, now: now) else { return 0 }
            // A custom store may return any time of arrival.
            let (span, overflows) = end.subtractingReportingOverflow(date)
            return overflows ? 0 : max(0, span)
        }
        // §4.2.2: a tenth of the time since the last change, at most a day.
        guard CachePolicy.isHeuristicallyCacheable(response.status) || directives.isPublic || directives.isPrivate,
            let modified = CachePolicy.date(fields, .lastModified, now: now), modified < date
        else { return 0 }
        return min(86_400, Int64((Double(date) - Double(modified)) * 0.1))
    }
}
