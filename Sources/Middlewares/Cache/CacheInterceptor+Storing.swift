internal import Foundation
internal import InterceptorsCore
internal import Synchronization

// The handling of the server's responses.
extension CacheInterceptor {
    /// Carries out the policy's decision about a response.
    func carryOut(
        _ decision: CachePolicy.StorageDecision,
        on response: consuming HTTPResponse,
        _ exchange: CacheExchange,
        _ ticket: CacheArrivals.Ticket,
        _ outcome: CacheOutcome
    ) async throws -> HTTPResponse {
        var outcome = outcome
        switch decision {
        case .pass(let reason, let removed):
            let urls = CachePolicy.invalidated(by: response, to: exchange.request)
            await remove(urls, seenBy: exchange.key.partition)
            outcome.storing = urls.isEmpty ? reason : .invalidated
            if !removed.isEmpty {
                // An earlier response that is still being read must not be stored after this one.
                for index in removed { _ = ticket.mayStore(exchange.entries[index].response.selectingFields) }
                await attempt(owing: exchange.key) { try await $0.remove(exchange.ids(removed), of: exchange.key) }
            }
            return CacheAnswers.marked(response, outcome)
        case .store(let stored, let replaced):
            let passed = await store(response, stored, replacing: replaced, exchange, ticket, &outcome)
            return CacheAnswers.marked(passed, outcome)
        case .freshen(let updates, let answers, let mayStore):
            if mayStore, ticket.isValid {
                await update(updates, exchange)
                outcome.storing = .updated
            }
            guard answers, let selected = exchange.forward.selected, let update = updates[selected] else {
                return CacheAnswers.marked(response, outcome)
            }
            outcome.result = .revalidated
            let entry = exchange.entries[selected].with(update)
            if let answer = try await answer(with: entry, insteadOf: response, exchange, outcome, stale: nil) {
                return answer
            }
            response.body.discard()
            return try await send(exchange.unconditional)
        case .serveStale(let reason):
            outcome.result = .stale
            if let entry = exchange.selected,
                let answer = try await answer(with: entry, insteadOf: response, exchange, outcome, stale: reason)
            {
                return answer
            }
            outcome.result = .miss
            return CacheAnswers.marked(response, outcome)
        case .sendAgain:
            response.body.discard()
            return try await send(exchange.unconditional)
        }
    }

    private func update(_ updates: [Int: CachedResponse], _ exchange: CacheExchange) async {
        for (index, update) in updates {
            let id = exchange.entries[index].id
            // An entry that needs validation looks fresh, and the server has another response.
            await attempt(owing: update.needsValidation ? exchange.key : nil) {
                try await $0.update(id, of: exchange.key, to: update)
            }
        }
    }

    /// The response from an entry; `nil` if it can't be read. With an entry, the server's response is discarded.
    ///
    /// An outer cookie jar ignores replayed cookies, so the cookies of the server's response are added explicitly. Cookies of
    /// another origin are left out: the response has the request's URL, so a jar would attribute them to the request's origin.
    private func answer(
        with entry: CacheEntry,
        insteadOf response: HTTPResponse,
        _ exchange: CacheExchange,
        _ outcome: CacheOutcome,
        stale: CacheOutcome.Reason?
    ) async throws -> HTTPResponse? {
        let served: HTTPResponse?
        do {
            served = try await serveSelected(exchange, entry, outcome, stale)
        } catch {
            response.body.discard()
            throw error
        }
        guard var answer = served else { return nil }
        response.body.discard()
        let cookies = response.receivedCookies
        guard !CachePolicy.isOfAnotherOrigin(response, exchange.request), !cookies.isEmpty else { return answer }
        answer.headers.remove(.setCookie)
        for field in cookies { answer.headers.append(field) }
        answer.context.cookiesFromServer = cookies
        return answer
    }

    /// Reports an error of the store.
    ///
    /// - Parameter key: the key of entries to remove or to mark for validation. If the store fails, all entries of the key are
    ///   misses until it has removed them.
    func attempt(owing key: CacheKey? = nil, _ work: (any CacheStore) async throws -> Void) async {
        do {
            try await work(store)
        } catch {
            if let key, !error.isOwed { arrivals.debts.insert(key) }
            report(error)
        }
    }

    // RFC 9111 §4.4: a change by the caller affects both the caller's entries and those of requests without a partition.
    func remove(_ urls: [URL], seenBy partition: String) async {
        for key in Set(urls.flatMap { url in [partition, ""].compactMap { CacheKey(url: url, partition: $0) } }) {
            arrivals.invalidate(key)
            await attempt(owing: key) { try await $0.removeAll(of: key) }
        }
    }

    /// Tries the removal again that is owed for a key, unless all entries are owed and it failed just now. Returns whether
    /// nothing is owed any more.
    func payDebt(of key: CacheKey) async -> Bool {
        guard let debt = arrivals.debts.debt(of: key) else { return true }
        let now = time.read().steady
        let isTooEarly = arrivals.lastClear.withLock { last in
            guard debt.isWhole else { return false }
            // All entries are removed for the lookup of any key, so not for each lookup.
            if let last, (last..<last + 10).contains(now) { return true }
            last = now
            return false
        }
        if isTooEarly { return false }
        do {
            try await debt.isWhole ? store.removeAll() : store.removeAll(of: key)
            arrivals.debts.settle(debt)
            return true
        } catch {
            report(error)
            return false
        }
    }

    /// Stores a response: at once if its body is in memory, otherwise while it is read.
    private func store(
        _ response: consuming HTTPResponse,
        _ stored: CachedResponse,
        replacing replaced: [Int],
        _ exchange: CacheExchange,
        _ ticket: CacheArrivals.Ticket,
        _ outcome: inout CacheOutcome
    ) async -> HTTPResponse {
        outcome.storing = .refused
        // Without a generation, a later invalidation couldn't be detected.
        guard let generation = exchange.generation else { return response }
        let commit = CacheCommit(
            response: stored,
            replaced: exchange.ids(replaced),
            seen: exchange.entries,
            ticket: ticket,
            store: store,
            generation: generation,
            report: report
        )
        let body = response.body
        if let bytes = body.data ?? (body.isEmpty ? Data() : nil) {
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
}
