internal import Interceptors
internal import InterceptorsSyntax

/// The bytes that a partial response carries (RFC 9110 §15.3.7.1).
struct PartialContent: Sendable, Hashable {
    /// The place of the content in the representation.
    let range: Range<Int64>
    /// The length of the representation; `nil` if the server doesn't know it.
    let total: Int64?

    /// Reads the fields of a 206. Returns `nil` if the content isn't exactly one range of uncoded bytes, or if `Content-Length`
    /// says otherwise.
    init?(of fields: HTTPFields) {
        // Several parts have their ranges in the content (§15.3.7.2).
        let values = fields[values: .contentRange]
        guard !ContentDecoding.isCoded(fields), values.count == 1, let content = ContentRange(values[0]),
            let range = content.bytes
        else { return nil }
        if fields.contains(.contentLength), fields.contentLength != range.upperBound - range.lowerBound { return nil }
        self.range = range
        total = content.total
    }
}
