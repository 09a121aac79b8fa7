internal import Foundation
internal import InterceptorsCore

// The handling of the server's responses.
extension CacheCore {
    /// Carries out the policy's decision about a response.
    func carryOut(
        _ decision: CachePolicy.StorageDecision,
        on response: consuming HTTPResponse,
        _ exchange: borrowing CacheExchange,
        _ ticket: CacheArrivals.Ticket,
        _ timing: CachePolicy.Timing,
        _ outcome: consuming CacheOutcome,
        _ next: Next
    ) async throws -> HTTPResponse {
        switch decision {
        case .pass(let reason, let removed):
            outcome.storing = reason
            if await invalidate(by: response, exchange) { outcome.storing = .invalidated }
            if !removed.isEmpty {
                // An earlier response that is still being read must not be stored after this one.
                for index in removed { _ = ticket.mayStore(exchange.entries[index].response.selectingFields) }
                let (ids, key) = (exchange.ids(removed), exchange.key)
                await attemptRemoval(of: key) { try await $0.remove(ids, of: key) }
            }
            return marked(response, outcome)
        case .store(let stored, let replaced):
            let commit = commit(stored, exchange.ids(replaced), ticket, exchange)
            return marked(await store(response, commit, &outcome), outcome)
        case .freshen(let updates, let answers, let mayStore):
            if mayStore, ticket.isValid {
                await update(updates, exchange)
                outcome.storing = .updated
            }
            guard answers, let selected = exchange.forward.selected, let update = updates[selected] else {
                return marked(response, outcome)
            }
            let entry = exchange.entries[selected].with(update)
            return try await answer(with: entry, confirmedBy: response, exchange, timing, outcome, next)
        case .serveStale(let reason):
            return try await answerStale(reason, insteadOf: response, exchange, timing, outcome)
        case .sendAgain:
            response.body.discard()
            return try await send(exchange.unconditional(at: time.read()), next)
        }
    }

    private func update(_ updates: [Int: CachedResponse], _ exchange: borrowing CacheExchange) async {
        let key = exchange.key
        for (index, update) in updates {
            let id = exchange.entries[index].id
            if update.needsValidation {
                // The entry looks fresh, and the server has another response.
                await attemptRemoval(of: key) { try await $0.update(id, of: key, to: update) }
            } else {
                await attempt { try await $0.update(id, of: key, to: update) }
            }
        }
    }

    private func answer(
        with entry: CacheEntry,
        confirmedBy response: consuming HTTPResponse,
        _ exchange: borrowing CacheExchange,
        _ timing: CachePolicy.Timing,
        _ outcome: consuming CacheOutcome,
        _ next: Next
    ) async throws -> HTTPResponse {
        response.body.discard()
        outcome.result = .revalidated
        if let answer = try await serveSelected(exchange, entry, timing.responseTime, outcome, nil) {
            return Self.setting(cookiesOf: response, on: answer, to: exchange.request)
        }
        return try await send(exchange.unconditional(at: time.read()), next)
    }

    private func answerStale(
        _ reason: CacheOutcome.StaleReason,
        insteadOf response: consuming HTTPResponse,
        _ exchange: borrowing CacheExchange,
        _ timing: CachePolicy.Timing,
        _ outcome: consuming CacheOutcome
    ) async throws -> HTTPResponse {
        outcome.result = .stale
        if let entry = exchange.selected,
            let answer = try await serveSelected(exchange, entry, timing.responseTime, outcome, reason)
        {
            response.body.discard()
            return Self.setting(cookiesOf: response, on: answer, to: exchange.request)
        }
        outcome.result = .miss
        return marked(response, outcome)
    }

    // An outer cookie jar ignores replayed cookies, so the cookies of the server's response are added explicitly. Cookies of
    // another origin are left out: the response has the request's URL, so a jar would attribute them to the request's origin.
    private static func setting(
        cookiesOf response: HTTPResponse,
        on answer: consuming HTTPResponse,
        to request: HTTPRequest
    ) -> HTTPResponse {
        guard !CachePolicy.isOfAnotherOrigin(response, request) else { return answer }
        let cookies = response.receivedCookies
        guard !cookies.isEmpty else { return answer }
        answer.headerFields.remove(.setCookie)
        for field in cookies { answer.headerFields.append(field) }
        answer.context.cookiesBesideStored = cookies
        return answer
    }

    private func marked(_ response: consuming HTTPResponse, _ outcome: CacheOutcome) -> HTTPResponse {
        CacheAnswers.mark(&response, outcome)
        return response
    }

    func attempt(_ work: (any CacheStore) async throws -> Void) async {
        do {
            try await work(store)
        } catch {
            report(error)
        }
    }

    // RFC 9111 §4.4
    private func invalidate(by response: HTTPResponse, _ exchange: borrowing CacheExchange) async -> Bool {
        let urls = CachePolicy.invalidated(by: response, to: exchange.request)
        await remove(urls, seenBy: exchange.key.partition)
        return !urls.isEmpty
    }

    // A change by the caller affects both the caller's entries and those of requests without a partition.
    func remove(_ urls: [URL], seenBy partition: String) async {
        await remove(
            Set(urls.flatMap { url in Set([partition, ""]).compactMap { CacheKey(url: url, partition: $0) } })
        )
    }

    private func remove(_ keys: Set<CacheKey>) async {
        for key in keys {
            arrivals.invalidate(key)
            await attemptRemoval(of: key) { try await $0.removeAll(of: key) }
        }
    }

    /// Removes entries of a key, or marks them for validation. If the store fails, all entries of the key are misses until it has
    /// removed them.
    private func attemptRemoval(of key: CacheKey, _ work: (any CacheStore) async throws -> Void) async {
        do {
            try await work(store)
        } catch {
            if !error.isOwed { arrivals.debts.add(key) }
            report(error)
        }
    }

    /// Tries the removal again that is owed for a key, unless all entries are owed and it failed just now. Returns whether nothing is owed any more.
    func payDebt(of key: CacheKey) async -> Bool {
        guard let debt = arrivals.debts.debt(of: key) else { return true }
        guard arrivals.debts.mayTry(debt, at: time.read().steady) else { return false }
        do {
            switch debt {
            case .key: try await store.removeAll(of: key)
            case .all: try await store.removeAll()
            }
            arrivals.debts.settle(debt, of: key)
            return true
        } catch {
            report(error)
            return false
        }
    }

    /// The commit of a response; `nil` without a generation, because a later invalidation couldn't be detected.
    private func commit(
        _ stored: CachedResponse,
        _ replaced: [CacheEntry.ID],
        _ ticket: CacheArrivals.Ticket,
        _ exchange: borrowing CacheExchange
    ) -> CacheCommit? {
        guard let generation = exchange.generation else { return nil }
        return CacheCommit(
            response: stored,
            replaced: replaced,
            seen: exchange.entries.map(\.id),
            ticket: ticket,
            store: store,
            generation: generation,
            length: stored.headerFields.contains(.contentLength)
                ? stored.headerFields[.contentLength].flatMap { Int64($0) } : nil,
            report: report
        )
    }

    /// Stores a response: at once if its body is in memory, otherwise while it is read.
    private func store(
        _ response: consuming HTTPResponse,
        _ commit: CacheCommit?,
        _ outcome: inout CacheOutcome
    ) async -> HTTPResponse {
        outcome.storing = .refused
        guard let commit else { return response }
        let body = response.body
        if let bytes = Self.bytes(of: body) {
            if await commit.store(bytes) { outcome.storing = .stored }
        } else if let recording = await commit.recording(of: body.length) {
            response.body = .oneShot(RecordedBody(body: body, recording: recording), length: body.length) {
                recording.abandon()
                body.discard()
            }
            outcome.storing = .stored
        }
        return response
    }

    private static func bytes(of body: HTTPBody) -> Data? { body.bytes ?? (body.isEmpty ? Data() : nil) }
}
