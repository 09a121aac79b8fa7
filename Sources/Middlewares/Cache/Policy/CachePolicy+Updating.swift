internal import InterceptorsCore
internal import InterceptorsSyntax

extension CachePolicy {
    // §3.2: a 304 never changes the length. The coding stays, because the stored body may have been decoded. A range
    // describes another body.
    fileprivate static let notUpdated: Set<HTTPField.Name> = [.contentEncoding, .contentLength, .contentRange]

    /// Fields about the content of one message, which say nothing about another range.
    static let digestsOfContent: Set<HTTPField.Name> = ["Content-Digest", "Content-MD5"]
}

// The update of stored responses by a 304, or by the response to a HEAD.
extension CachePolicy.Arrival {
    /// A stored response with the fields of a 304, or of a response to HEAD (§3.2, §4.3.4).
    func freshened(_ stored: CachedResponse) -> CachedResponse {
        var new = stored
        var fields = HTTPFields(CachePolicy.kept(self.fields).filter { !CachePolicy.notUpdated.contains($0.name) })
        if CachePolicy.isOfAnotherOrigin(response, request) { fields.remove(.setCookie) }
        if CachePolicy.date(fields, .date, now: timing.wallTime) == nil {
            fields[.date] = HTTPDate.format(timing.wallTime)
        }
        // A weak match doesn't promise identical bytes, so the stored body keeps its weak tag.
        if let own = EntityTag(of: stored.headers), own.isWeak, EntityTag(of: fields)?.matchesWeakly(own) == true {
            fields.remove(.eTag)
        }
        new.headers.override(with: fields)
        new.initialAge = CachePolicy.initialAge(self.fields, timing: timing)
        new.responseTime = timing.responseTime
        new.needsValidation = false
        if fields.contains(.vary) { new.selectingFields = policy.selectingFields(request, for: new.headers) }
        return new.parse()
    }

    /// Whether the response to a HEAD describes a stored response.
    func describes(_ stored: CacheEntry) -> Bool {
        let own = stored.response.headers
        if let value = fields[.lastModified], value != own[.lastModified] { return false }
        if let value = fields[.eTag], value != own[.eTag] {
            // For compressed content, a server may send a weak tag for GET and the strong tag for HEAD.
            guard let tag = EntityTag(value), EntityTag(of: own)?.matchesWeakly(tag) == true else { return false }
        }
        guard let length = fields[.contentLength] else { return true }
        if let ownLength = own[.contentLength] { return length == ownLength }
        // A compressed length can't be compared with a body that was decompressed before it was stored.
        return fields.contains(.contentEncoding) || length == String(stored.length)
    }

    // RFC 9111 §4.3.3, §4.3.4
    func ofNotModified() -> CachePolicy.StorageDecision {
        let asked = forward.isConditional
        let callersOwn = request.headers.contains(.ifNoneMatch) || request.headers.contains(.ifModifiedSince)
        let mayStore = CachePolicy.mayStore(request) && !CacheControl(fields).noStore
        var updates: [Int: CachedResponse] = [:]
        for index in confirmed(nominated: asked ? forward.selected : nil, isAlone: !callersOwn) {
            updates[index] = freshened(stored[index].response)
        }
        if asked, let selected = forward.selected, updates[selected] != nil {
            return .freshen(updates, answer: true, mayStore: mayStore)
        }
        if callersOwn, !asked || isCallers {
            return updates.isEmpty ? .pass(.status) : .freshen(updates, answer: false, mayStore: mayStore)
        }
        return asked ? .sendAgain : .pass(.status)
    }

    /// - Parameters:
    ///   - nominated: the index of the stored response whose validator the cache sent.
    ///   - isAlone: whether the caller's request had no validator.
    private func confirmed(nominated: Int?, isAlone: Bool) -> [Int] {
        let candidates = matching.filter { stored[$0].response.status == 200 }
        if let tag = EntityTag(of: fields) {
            let same = candidates.filter { index in
                guard let own = EntityTag(of: stored[index].response.headers) else { return false }
                // A server compares weakly (RFC 9110 §13.1.2), and may return a strong tag where the cache sent a weak tag.
                // nginx does so for compressed content. An equal opaque part identifies the stored response.
                return tag.isWeak || index == nominated ? own.matchesWeakly(tag) : own.matchesStrongly(tag)
            }
            guard tag.isWeak else { return same }
            if let nominated, same.contains(nominated) { return [nominated] }
            return mostRecent(same)
        }
        if let modified = fields[.lastModified] {
            return mostRecent(candidates.filter { stored[$0].response.headers[.lastModified] == modified })
        }
        // Without a validator, a 304 can only confirm the response that the cache asked about.
        return isAlone ? nominated.map { [$0] } ?? [] : []
    }

    private func mostRecent(_ indices: [Int]) -> [Int] {
        indices.max { stored[$0].response.responseTime < stored[$1].response.responseTime }.map { [$0] } ?? []
    }

    /// Whether a 304 confirms a response that the caller has.
    var isCallers: Bool {
        guard let tag = EntityTag(of: fields) else { return false }
        return EntityTagCondition(request.headers)?.matches(tag) ?? false
    }
}
