internal import InterceptorsCore
internal import InterceptorsSyntax

extension CachePolicy {
    /// The index of the stored response that a request selects; `nil` if no stored response matches (RFC 9111 §4, §4.1).
    func select(from stored: [CacheEntry], for request: HTTPRequest) -> Int? {
        stored.indices.lazy.filter { matches(stored[$0].response, request) }
            .max { Self.rank(stored[$0]) < Self.rank(stored[$1]) }
    }

    // Prefers a response with `Vary` to one without, then the most recent.
    private static func rank(_ entry: CacheEntry) -> (Int, Int64, Int64) {
        let response = entry.response
        let date = date(response.headers, .date, now: response.responseTime) ?? response.responseTime
        let variance = response.headers.contains(.vary) ? 1 : 0
        return (variance, date, response.responseTime)
    }

    func matches(_ response: CachedResponse, _ request: HTTPRequest) -> Bool {
        guard let names = response.facts.selectors else { return false }
        return names.allSatisfy { name in
            let (asked, stored) = (selector(name, in: request), response.selectingFields[name])
            guard let asked, let stored else { return asked == nil && stored == nil }
            return ASCII.isSame(asked, stored)
        }
    }

    /// The request fields that `Vary` of the response names, one line each.
    func selectingFields(_ request: HTTPRequest, for response: HTTPFields) -> HTTPFields {
        guard let names = VaryField(response).names else { return [:] }
        var selecting = HTTPFields()
        for name in names.compactMap({ HTTPField.Name($0) }) {
            if let value = selector(name, in: request) { selecting.append(name, value) }
        }
        return selecting
    }

    // Within a named partition, fields that identify the caller don't select: the name says who asks, whatever the present token
    // or cookie. A secret is stored and compared only as a digest.
    private func selector(_ name: HTTPField.Name, in request: HTTPRequest) -> String? {
        guard let value = request.headers[name],
            !(name.identifiesCaller && request.context.namedPartition != nil)
        else { return nil }
        return Redaction.standard.isSensitive(name) ? digest.text(for: value) : value
    }
}

extension CachePolicy {
    /// The form in which a stored response is served to a request.
    static func form(of stored: CacheEntry, for request: HTTPRequest) -> Form {
        let fields = request.headers
        let unconditional: Form = request.method == .head ? .head : .full
        // Preconditions and ranges apply only if the unconditional response is a 200 (RFC 9110 §13.2.1, §14.2).
        guard stored.response.status == 200 else { return unconditional }
        if isNotModified(stored.response, fields) { return .notModified }
        guard request.method == .get, case .single(let range) = ByteRange.requested(in: fields),
            isRangeWanted(of: stored.response, fields)
        else { return unconditional }
        return range.bytes(of: stored.length).map { .partial($0) } ?? .unsatisfiableRange
    }

    // RFC 9111 §4.3.2
    static func isNotModified(_ response: CachedResponse, _ request: HTTPFields) -> Bool {
        if request.contains(.ifNoneMatch) {
            let tag = EntityTag(of: response.headers)
            return EntityTagCondition(request)?.matches(tag) ?? false
        }
        guard let since = date(request, .ifModifiedSince, now: response.responseTime),
            request[values: .ifModifiedSince].count == 1
        else { return false }
        let fields = response.headers
        let modified =
            date(fields, .lastModified, now: response.responseTime)
            ?? (fields.contains(.lastModified) ? nil : date(fields, .date, now: response.responseTime))
        return modified.map { $0 <= since } ?? false
    }

    // RFC 9110 §13.1.5: the validator must be strong, and identical to the stored validator.
    private static func isRangeWanted(of response: CachedResponse, _ request: HTTPFields) -> Bool {
        guard let condition = request[.ifRange] else { return true }
        let fields = response.headers
        if let tag = EntityTag(condition) { return EntityTag(of: fields).map { tag.matchesStrongly($0) } ?? false }
        guard let modified = date(fields, .lastModified, now: response.responseTime),
            let date = date(fields, .date, now: response.responseTime), date > modified
        else { return false }
        return HTTPDate.parse(condition, now: response.responseTime) == modified
    }

    /// The fields that ask the server whether a stored response is still valid (RFC 9111 §4.3.1).
    func validation(of stored: CacheEntry, for request: HTTPRequest) -> HTTPFields {
        guard request.method == .get, stored.response.status == 200, stored.response.facts.hasValidator,
            !request.headers.contains(.ifRange)
        else { return [:] }
        let own = stored.response.headers
        let tag = EntityTag(of: own)
        if request.headers.contains(.ifNoneMatch) {
            guard let tag, case .tags(let tags) = EntityTagCondition(request.headers),
                let list = request.headers[.ifNoneMatch], !tags.contains(where: { $0.matchesWeakly(tag) })
            else { return [:] }
            return [.ifNoneMatch: "\(list), \(tag)"]
        }
        guard !request.headers.contains(.ifModifiedSince) else { return [:] }
        var fields = HTTPFields()
        if let tag { fields.append(.ifNoneMatch, tag.description) }
        if let modified = own[.lastModified], Self.date(own, .lastModified, now: stored.response.responseTime) != nil {
            fields.append(.ifModifiedSince, modified)
        }
        return fields
    }
}
