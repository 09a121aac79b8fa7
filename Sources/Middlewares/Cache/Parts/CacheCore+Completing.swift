internal import Interceptors

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
        guard let completion = exchange.forward.completion, let parts = exchange.entries[completion.index].parts,
            let stored = try await ends(of: parts, around: completion.range, exchange, completion.index)
        else {
            response.body.discard()
            return try await send(exchange.unconditional(at: time.read()), next)
        }
        let range = completion.range
        if let refusal {
            outcome.storing = refusal
        } else {
            let part = head.part(range, of: parts.total)
            let replaced = parts.replaced(by: range)
            let commit = commit(part, replaced, CacheCommit.Beginning(of: part), ticket, exchange)
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

    /// The stored bytes before and after a range; `nil` if they can't be read.
    private func ends(
        of parts: StoredParts,
        around range: Range<Int64>,
        _ exchange: borrowing CacheExchange,
        _ index: Int
    ) async throws -> (beginning: HTTPBody, end: HTTPBody)? {
        var beginning = HTTPBody.empty
        do {
            beginning = try await parts.body(0..<range.lowerBound)
            return (beginning, try await parts.body(range.upperBound..<parts.total))
        } catch {
            beginning.discard()
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
    /// The beginning of a complete response; `nil` if its rest couldn't be requested.
    init?(of response: CachedResponse, to request: HTTPRequest) {
        guard response.status == 200, request.context.storingConditions.isEmpty,
            let representation = Representation(of: response.headerFields)
        else { return nil }
        self.init(offset: 0, total: representation.total)
    }

    /// The beginning of a stored part; `nil` if it has no strong validator, so that no other part continues it.
    init?(of part: CachedResponse) {
        guard let place = part.place, RangeValidator(of: part.headerFields) != nil else { return nil }
        self.init(offset: place.range.lowerBound, total: place.total)
    }
}
