internal import InterceptorsCore
internal import InterceptorsSyntax

// A part of a representation is stored as a separate entry, with status 206 (RFC 9111 §3.3). Its range is also among the
// selecting fields, so that a store keeps several parts of a variant side by side.
extension CachedResponse {
    /// A part of this response, as it is stored.
    ///
    /// - Parameters:
    ///   - range: the bytes of the part.
    ///   - total: the length of the representation.
    func part(_ range: Range<Int64>, of total: Int64) -> Self {
        let place = ContentRange(bytes: range, total: total).description
        var part = self
        part.status = 206
        part.headerFields[.contentRange] = place
        part.headerFields[.contentLength] = String(range.length)
        part.headerFields.removeAll { CachePolicy.digestsOfContent.contains($0.name) }
        part.selectingFields.append(.contentRange, place)
        return part
    }

    /// The response that a stored part is a part of, with the length of the representation.
    func whole(of total: Int64) -> Self {
        var whole = self
        whole.status = 200
        whole.headerFields.remove(.contentRange)
        whole.headerFields[.contentLength] = String(total)
        whole.selectingFields = selectingFields.withoutPlace
        return whole
    }

    /// The place of a stored part; `nil` if the response isn't one.
    var place: (range: Range<Int64>, total: Int64)? {
        guard status == 206, let place = selectingFields[.contentRange].flatMap({ ContentRange($0) }),
            let range = place.bytes, let total = place.total
        else { return nil }
        return (range, total)
    }
}

extension HTTPFields {
    /// The selecting fields of the response that a part with these selecting fields is a part of.
    var withoutPlace: HTTPFields {
        var fields = self
        fields.remove(.contentRange)
        return fields
    }
}
