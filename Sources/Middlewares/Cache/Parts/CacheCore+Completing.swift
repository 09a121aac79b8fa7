internal import InterceptorsCore

// The completion of stored parts by the bytes of a partial response (RFC 9111 §3.4).
extension CacheCore {
    /// The complete response: stored parts, with the server's bytes where bytes were missing.
    ///
    /// - Parameters:
    ///   - head: the response that all parts are parts of.
    ///   - refusal: why the server's bytes aren't stored; `nil` if they are.
    func complete(
        _ response: consuming HTTPResponse,
        _ head: CachedResponse,
        _ refusal: CacheOutcome.Storing?,
        _ exchange: borrowing CacheExchange,
        _ ticket: CacheArrivals.Ticket,
        _ timing: CachePolicy.Timing,
        _ outcome: consuming CacheOutcome,
        _ next: Next
    ) async throws -> HTTPResponse {
        let unread = response.body
        guard let completion = exchange.forward.completion, let parts = exchange.entries[completion.index].parts,
            let stored = try await ends(of: parts, around: completion.range, exchange, completion.index, unread)
        else {
            return try await send(exchange.unconditional(at: time.read()), next)
        }
        let range = completion.range
        // A stream without a length is checked too: too few bytes would give those after them wrong places.
        if response.body.length == nil { response.body = .oneShot(response.body, length: range.length) }
        if let refusal {
            outcome.storing = refusal
        } else {
            let part = head.part(range, of: parts.total)
            let replaced = parts.replaced(by: range)
            let beginning = beginning(of: response, replacing: [], exchange)
            let commit = commit(part, replaced, beginning, ticket, exchange)
            response = await store(response, commit, &outcome)
        }
        let body = HTTPBody.joined([stored.beginning, response.body, stored.end], length: parts.total)
        if let limit = exchange.request.context.responseBody.bufferLimit {
            response.body = HTTPBody(try await body.collect(upTo: limit))
        } else {
            response.body = body
        }
        setHead(head, of: &response, at: timing.responseTime)
        return marked(response, outcome)
    }

    /// The stored bytes before and after a range; `nil` if they can't be read. The server's body is discarded then.
    private func ends(
        of parts: StoredParts,
        around range: Range<Int64>,
        _ exchange: borrowing CacheExchange,
        _ index: Int,
        _ body: HTTPBody
    ) async throws -> (beginning: HTTPBody, end: HTTPBody)? {
        var beginning = HTTPBody.empty
        do {
            beginning = try await parts.body(0..<range.lowerBound)
            return (beginning, try await parts.body(range.upperBound..<parts.total))
        } catch {
            beginning.discard()
            body.discard()
            try await giveUp(exchange.entries[index], of: exchange.key, after: error)
            return nil
        }
    }

    // Only the cookies of the server's response are for a jar.
    private func setHead(_ head: CachedResponse, of response: inout HTTPResponse, at now: Int64) {
        let cookies = response.headerFields.filter { $0.name == .setCookie }
        response.status = 200
        response.headerFields = head.headerFields
        response.headerFields.remove(.setCookie)
        for cookie in cookies { response.headerFields.append(cookie) }
        if let age = policy.freshness(of: head, now: now).age {
            response.headerFields[.age] = String(min(age, DeltaSeconds.ceiling))
        }
    }
}

extension CacheCommit.Beginning {
    /// The place of a streamed response's body; `nil` if nothing is kept of it after it broke off.
    ///
    /// A length that a server didn't announce may be that of a decoded body, whose bytes have other places.
    ///
    /// - Parameter replaced: the entries that the response replaces.
    init?(of response: borrowing HTTPResponse, to request: HTTPRequest, replacing replaced: [CacheEntry]) {
        guard request.context.storingConditions.isEmpty, response.headerFields.contains(.contentLength) else {
            return nil
        }
        let fields = response.headerFields
        if response.status == 206 {
            guard let content = PartialContent(of: fields), let total = content.total else { return nil }
            self.init(range: content.range, total: total)
        } else {
            guard response.status == 200, let representation = Representation(of: fields),
                replaced.allSatisfy({ Self.givesWay($0, to: representation) })
            else { return nil }
            self.init(range: 0..<representation.total, total: representation.total)
        }
    }

    /// Whether a stored entry is worth less than the beginning of a newer response.
    private static func givesWay(_ entry: CacheEntry, to representation: Representation) -> Bool {
        guard let parts = entry.parts else { return false }
        return parts.validator != representation.validator || parts.total != representation.total
    }
}
