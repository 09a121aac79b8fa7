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
        _ outcome: consuming CacheOutcome
    ) async throws -> HTTPResponse {
        switch decision {
        case .pass(let reason, let removed):
            outcome.storing = reason
            if await invalidate(by: response, exchange) { outcome.storing = .invalidated }
            if !removed.isEmpty {
                // An earlier response that is still being read must not be stored after this one.
                for index in removed { _ = exchange.ticket.mayStore(exchange.entries[index].response.selectingFields) }
                await attempt(owing: exchange.key) { try await $0.remove(exchange.ids(removed), of: exchange.key) }
            }
            return marked(response, outcome)
        case .store(let stored, let replaced):
            return marked(await store(response, stored, replacing: replaced, exchange, &outcome), outcome)
        case .freshen(let updates, let answers, let mayStore):
            if mayStore, exchange.ticket.isValid {
                await update(updates, exchange)
                outcome.storing = .updated
            }
            guard answers, let selected = exchange.forward.selected, let update = updates[selected] else {
                return marked(response, outcome)
            }
            let entry = exchange.entries[selected].with(update)
            return try await answer(with: entry, confirmedBy: response, exchange, outcome)
        case .serveStale(let reason):
            return try await answerStale(reason, insteadOf: response, exchange, outcome)
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

    private func answer(
        with entry: CacheEntry,
        confirmedBy response: consuming HTTPResponse,
        _ exchange: CacheExchange,
        _ outcome: consuming CacheOutcome
    ) async throws -> HTTPResponse {
        response.body.discard()
        outcome.result = .revalidated
        if let answer = try await serveSelected(exchange, entry, outcome, nil) {
            return Self.setting(cookiesOf: response, on: answer, to: exchange.request)
        }
        return try await send(exchange.unconditional)
    }

    private func answerStale(
        _ reason: CacheOutcome.StaleReason,
        insteadOf response: consuming HTTPResponse,
        _ exchange: CacheExchange,
        _ outcome: consuming CacheOutcome
    ) async throws -> HTTPResponse {
        outcome.result = .stale
        if let entry = exchange.selected,
            let answer = try await serveSelected(exchange, entry, outcome, reason)
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

    // RFC 9111 §4.4
    private func invalidate(by response: HTTPResponse, _ exchange: CacheExchange) async -> Bool {
        let urls = CachePolicy.invalidated(by: response, to: exchange.request)
        await remove(urls, seenBy: exchange.key.partition)
        return !urls.isEmpty
    }

    // A change by the caller affects both the caller's entries and those of requests without a partition.
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
        if debt.isWhole, !mayClear(at: time.read().steady) { return false }
        do {
            try await debt.isWhole ? store.removeAll() : store.removeAll(of: key)
            arrivals.debts.settle(debt)
            return true
        } catch {
            report(error)
            return false
        }
    }

    /// Whether to try to remove all entries now. They are removed for the lookup of any key, so not for each lookup.
    private func mayClear(at now: Int64) -> Bool {
        lastClear.withLock { last in
            if let last, (last..<last + 10).contains(now) { return false }
            last = now
            return true
        }
    }

    /// Stores a response: at once if its body is in memory, otherwise while it is read.
    private func store(
        _ response: consuming HTTPResponse,
        _ stored: CachedResponse,
        replacing replaced: [Int],
        _ exchange: CacheExchange,
        _ outcome: inout CacheOutcome
    ) async -> HTTPResponse {
        outcome.storing = .refused
        // Without a generation, a later invalidation couldn't be detected.
        guard let generation = exchange.generation else { return response }
        let commit = CacheCommit(
            response: stored,
            replaced: exchange.ids(replaced),
            seen: exchange.entries.map(\.id),
            ticket: exchange.ticket,
            store: store,
            generation: generation,
            report: report
        )
        let body = response.body
        if let bytes = body.bytes ?? (body.isEmpty ? Data() : nil) {
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
