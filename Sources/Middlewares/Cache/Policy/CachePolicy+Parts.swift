internal import InterceptorsCore
internal import InterceptorsSyntax

// Parts of representations (RFC 9111 §3.3, §3.4).
extension CachePolicy {
    /// A request for the bytes that are missing in the stored parts of a representation.
    struct Completion: Equatable {
        /// The index of the stored parts.
        var index: Int
        /// The bytes that the request asks for.
        var range: Range<Int64>
    }

    /// How to forward a request that selects stored parts, and asks for bytes that aren't among them.
    func forwardForMissing(of index: Int, in stored: [CacheEntry], for request: HTTPRequest) -> Forward {
        var forward = Forward(reason: .partial, fields: Self.fields(of: request))
        let own: [HTTPField.Name] = [.range, .ifRange, .ifNoneMatch, .ifModifiedSince]
        // The caller's range or condition is about other bytes than those that the cache would ask for.
        guard request.method == .get, let parts = stored[index].parts, let validator = parts.validator,
            let missing = parts.missing, !own.contains(where: { request.headerFields.contains($0) })
        else { return forward }
        // To the end without a last position, which every server understands.
        let last = missing.upperBound == parts.total ? "" : String(missing.upperBound - 1)
        forward.fields.append(.range, "bytes=\(missing.lowerBound)-\(last)")
        forward.fields.append(.ifRange, validator.text)
        forward.completion = Completion(index: index, range: missing)
        return forward
    }

    /// Decides about a 206, 304 or 416 to a request for missing bytes.
    func receiveMissing(
        _ response: HTTPResponse,
        _ request: HTTPRequest,
        _ completion: Completion,
        stored: [CacheEntry],
        _ timing: Timing
    ) -> StorageDecision {
        let entry = stored[completion.index]
        guard response.status == 206, let parts = entry.parts,
            let content = content(of: response),
            content.range == completion.range, content.total ?? parts.total == parts.total,
            parts.validator?.isConfirmed(by: response.headerFields) == true
        else { return .sendAgain }
        let head = freshened(entry, by: response, to: request, timing: timing)
        return .complete(head, refusal: Self.refusal(toStorePartOf: response, request, head.facts))
    }

    /// Decides about a 206 to the caller's own request for a range.
    func receivePart(
        _ response: HTTPResponse,
        _ request: HTTPRequest,
        stored: [CacheEntry],
        _ timing: Timing
    ) -> StorageDecision {
        let kept = KeptFields(response.headerFields, timing)
        if let refusal = Self.refusal(toStorePartOf: response, request, kept.facts) { return .pass(refusal) }
        guard let content = content(of: response), let total = content.total else { return .pass(.partial) }
        let validator = RangeValidator(of: kept.fields)
        let matching = stored.indices.filter { matches(stored[$0].response, request) }
        let same = matching.first { index in
            validator != nil && RangeValidator(of: stored[index].response.headerFields) == validator
                && stored[index].length == total && stored[index].response.status == 200
        }
        if let same, stored[same].has(content.range) {
            let update = freshened(stored[same], by: response, to: request, timing: timing)
            return .freshen([same: update], answer: false, mayStore: true)
        }
        // A complete response serves more requests than a part, also without a connection.
        guard matching.allSatisfy({ stored[$0].parts != nil }) else { return .pass(.partial) }
        // A response to `If-Range` may leave out fields that the caller has from an earlier response (RFC 9110 §15.3.7).
        guard same != nil || !request.headerFields.contains(.ifRange) else { return .pass(.partial) }
        let head =
            same.map { freshened(stored[$0], by: response, to: request, timing: timing) }
            ?? self.stored(response, kept, to: request, timing)
        let outdated = matching.filter { $0 != same }.map { stored[$0] }.ids
        let superfluous = same.flatMap { stored[$0].parts?.replaced(by: content.range) } ?? []
        return .storePart(head.part(content.range, of: total), replacing: outdated + superfluous)
    }

    /// Why a partial response can't be stored; `nil` if it can. It is treated like an incomplete 200 (RFC 9111 §3.3).
    private static func refusal(
        toStorePartOf response: HTTPResponse,
        _ request: HTTPRequest,
        _ facts: ResponseFacts
    ) -> CacheOutcome.Storing? {
        if let refusal = refusal(to: request) ?? refusal(of: 200, facts) { return refusal }
        // A condition of an outer interceptor is about the whole content.
        let isConditional = !request.context.storingConditions.isEmpty
        return isConditional || facts.selectors?.contains(.contentRange) ?? true ? .partial : nil
    }

    /// The place of a partial response's content; `nil` if a length contradicts it.
    private func content(of response: HTTPResponse) -> PartialContent? {
        guard let content = PartialContent(of: response.headerFields) else { return nil }
        return response.body.length ?? content.range.length == content.range.length ? content : nil
    }
}
