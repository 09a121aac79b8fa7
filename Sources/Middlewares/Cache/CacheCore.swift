internal import Foundation
internal import InterceptorsCore

/// Carries out the decisions of ``CachePolicy`` with a store and the rest of the chain.
final class CacheCore: Sendable {
    let store: any CacheStore
    let time: CacheTime
    let policy: CachePolicy
    let arrivals: CacheArrivals
    let isDisconnection: @Sendable (any Error) -> Bool
    let report: @Sendable (any Error) -> Void
    let backgroundValidations = BackgroundValidations()
    let partitions: CachePartitions
    private let stores: StoringCondition?

    init(
        store: any CacheStore,
        time: CacheTime,
        maximumStaleness: Duration,
        stores: (@Sendable (HTTPResponse) -> Bool)?,
        isDisconnection: @escaping @Sendable (any Error) -> Bool,
        report: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        arrivals = store.arrivals
        let digest = FieldDigest()
        policy = CachePolicy(maximumStaleness: max(0, maximumStaleness.components.seconds), digest: digest)
        partitions = CachePartitions(digest)
        self.time = time
        self.isDisconnection = isDisconnection
        self.report = report
        self.stores = stores.map(StoringCondition.init)
    }

    /// Gets the key of the digests from the store. Digests made before use the key of the process: entries stored under them
    /// are never found again.
    func prepare() async {
        if !policy.digest.isReady { await policy.digest.prepare(store, report: report) }
    }

    var isPrepared: Bool { policy.digest.isReady }

    /// The key of a request's stored responses; `nil` if the cache passes the request on: its URL isn't http or https, or its shape forbids
    /// to store it. An unsafe request has a key whatever its shape, because it invalidates entries.
    func key(for request: HTTPRequest) -> CacheKey? {
        guard request.context.callShape.mayStore || !request.method.isSafe else { return nil }
        return CacheKey(url: request.url, partition: partitions.name(for: request))
    }

    func answer(_ request: consuming HTTPRequest, _ key: CacheKey, _ next: Next) async throws -> HTTPResponse {
        let isStorable = request.method == .get || request.method == .head
        let found = isStorable ? await current(for: key) : nil
        return try await answer(request, key, found?.entries ?? [], found?.generation, next)
    }

    private func answer(
        _ request: HTTPRequest,
        _ key: CacheKey,
        _ entries: [CacheEntry],
        _ generation: CacheGeneration?,
        _ next: Next
    ) async throws -> HTTPResponse {
        let start = time.read()
        switch policy.decide(request, stored: entries, now: start.steady) {
        case .serve(let served):
            let outcome = CacheOutcome(served.stale == nil ? .hit : .stale)
            if let response = try await serve(served, entries[served.index], request, key, outcome) {
                if served.isValidatedAfterwards {
                    request.note(.revalidatesInBackground)
                    revalidate(request, key, generation, next)
                }
                return response
            }
            // The entry couldn't be read: decides again as if nothing were stored.
            return try await answer(request, key, [], generation, next)
        case .unsatisfiable:
            return CacheAnswers.gatewayTimeout(request, CacheOutcome(.unsatisfiable))
        case .forward(let forward):
            return try await send(CacheExchange(request, key, forward, entries, generation, at: start), next)
        }
    }

    /// The entries and the generation of a key; `nil` if the store fails.
    private func current(for key: CacheKey) async -> CacheSnapshot? {
        let isPaid = await payDebt(of: key)
        // The store removes a damaged record, so a second lookup finds the key without it.
        for _ in 0..<2 {
            do {
                var snapshot = try await store.snapshot(of: key)
                if !isPaid { snapshot.entries = [] }
                return snapshot
            } catch {
                report(error)
                guard (error as? CacheStoreError)?.code == .entryDamaged else { return nil }
            }
        }
        return nil
    }

    /// The response from a stored entry; `nil` if the entry can't be read. The entry is removed, unless it may be readable
    /// later.
    private func serve(
        _ served: CachePolicy.Served,
        _ entry: CacheEntry,
        _ request: HTTPRequest,
        _ key: CacheKey,
        _ outcome: CacheOutcome
    ) async throws -> HTTPResponse? {
        do {
            return try await CacheAnswers.response(served, from: entry, to: request, outcome: outcome)
        } catch {
            try await giveUp(entry, of: key, after: error)
            return nil
        }
    }

    /// Reports that an entry can't be read, and removes it, unless it may be readable later. Rethrows an error that isn't about the
    /// entry.
    private func giveUp(_ entry: CacheEntry, of key: CacheKey, after error: any Error) async throws {
        if let error = error as? TransportError, error.code == .bodyTooLarge { throw error }
        if error is CancellationError || Task.isCancelled { throw CancellationError() }
        report(error)
        let code = (error as? CacheStoreError)?.code
        // For instance on a locked device, or at the limit of open files.
        if code != .storeUnavailable && code != .storeBusy {
            await attempt { try await $0.remove([entry.id], of: key) }
        }
    }

    func send(_ exchange: borrowing CacheExchange, _ next: Next) async throws -> HTTPResponse {
        let ticket = arrivals.issueTicket(for: exchange.key)
        let outgoing = exchange.outgoing
        let response: HTTPResponse
        do {
            response = try await next(outgoing)
        } catch {
            let redirects = (error as? any HTTPError)?.context.redirects ?? []
            // An unsafe request may have changed the resource, unless it is certain that nothing was sent.
            let method = exchange.request.method
            if !method.isSafe, !UnsentError.isCertain(after: error, of: exchange.request) {
                await remove([exchange.request.url] + redirects.map(\.target), seenBy: exchange.key.partition)
            }
            // The server was reached, and the failure is another URL's.
            guard redirects.isEmpty, !outgoing.hasBeenRedirected else { throw error }
            return try await recover(from: error, exchange)
        }
        let end = time.read()
        ticket.arrive()
        let timing = CachePolicy.Timing(
            responseTime: end.steady,
            wallTime: end.wall,
            delay: end.steady - exchange.start.steady
        )
        var outcome = CacheOutcome(.miss)
        outcome.forwardReason = exchange.forward.reason
        outcome.forwardStatus = response.status.code
        let (request, entries) = (exchange.request, exchange.entries)
        let isElsewhere = !response.context.redirects.isEmpty || !outgoing.isAnswered(by: response)
        var decision = policy.receive(
            response,
            to: request,
            exchange.forward,
            stored: entries,
            timing: timing,
            isElsewhere: isElsewhere
        )
        if case .store = decision, !(await meetsConditions(response, to: request)) { decision = .pass(.condition) }
        return try await carryOut(decision, on: consume response, exchange, ticket, timing, outcome, next)
    }

    // Without a response, the selected entry may be served stale (RFC 9111 §4.2.4, RFC 5861 §4).
    private func recover(from error: any Error, _ exchange: borrowing CacheExchange) async throws -> HTTPResponse {
        guard !(error is CancellationError), !Task.isCancelled, let entry = exchange.selected else { throw error }
        let isDisconnected = isDisconnection(error)
        guard isDisconnected || CachePolicy.isServerFailure(error) else { throw error }
        let now = time.read().steady
        var outcome = CacheOutcome(.stale)
        outcome.forwardReason = exchange.forward.reason
        switch policy.afterFailure(entry.response, exchange.request, now: now) {
        case .served(let reason) where isDisconnected || reason == .staleIfError:
            report(error)
            if let response = try await serveSelected(exchange, entry, now, outcome, reason) { return response }
            throw error
        case .forbidden where isDisconnected:
            report(error)
            outcome.result = .unsatisfiable
            return CacheAnswers.gatewayTimeout(exchange.request, outcome, cause: error)
        case .served, .forbidden, .tooStale:
            throw error
        }
    }

    private func meetsConditions(_ response: HTTPResponse, to request: HTTPRequest) async -> Bool {
        let conditions = request.context.storingConditions
        guard stores != nil || !conditions.isEmpty else { return true }
        if let length = response.body.length, length < StoringCondition.hopThreshold {
            return meets(conditions, response)
        }
        return await meetsElsewhere(conditions, response)
    }

    private func meets(_ conditions: InlineArray1<StoringCondition>, _ response: HTTPResponse) -> Bool {
        (stores?.isMet(response) ?? true) && conditions.first { !$0.isMet(response) } == nil
    }

    @concurrent
    private func meetsElsewhere(_ conditions: InlineArray1<StoringCondition>, _ response: HTTPResponse) async -> Bool {
        meets(conditions, response)
    }

    func serveSelected(
        _ exchange: borrowing CacheExchange,
        _ entry: CacheEntry,
        _ now: Int64,
        _ outcome: CacheOutcome,
        _ stale: CacheOutcome.StaleReason?
    ) async throws -> HTTPResponse? {
        let form = CachePolicy.form(of: entry, for: exchange.request)
        let freshness = policy.freshness(of: entry.response, now: now)
        var served = CachePolicy.Served(index: 0, form: form, age: freshness.age, lifetime: freshness.lifetime)
        served.stale = stale
        if stale != nil { served.omitted = CachePolicy.omitted(entry.response) }
        return try await serve(served, entry, exchange.request, exchange.key, outcome)
    }
}

extension CacheCore {
    /// Validates an entry in the background, after it has been served stale (RFC 5861 §3).
    private func revalidate(
        _ request: HTTPRequest,
        _ key: CacheKey,
        _ generation: CacheGeneration?,
        _ next: Next
    ) {
        var request = request
        request.method = .get
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .range, .ifRange] {
            request.headerFields.remove(name)
        }
        request.context.downloadProgress = nil
        request.context.uploadProgress = nil
        request.context.interim = nil
        // The caller already has a response, so the caller's deadline doesn't apply.
        request.context.deadline = nil
        let client = request.context.clientOwner
        backgroundValidations.begin(key) { [request] in
            await self.validate(request, key, generation, next)
            withExtendedLifetime(client) {}
        }
    }

    private func validate(
        _ request: HTTPRequest,
        _ key: CacheKey,
        _ generation: CacheGeneration?,
        _ next: Next
    ) async {
        // If the key was invalidated after the stale response was found, the next request asks the server anyway.
        guard let found = await current(for: key), found.generation == generation else { return }
        let entries = found.entries
        guard let selected = policy.select(from: entries, for: request) else { return }
        let fields = policy.validation(of: entries[selected], for: request)
        let forward = CachePolicy.Forward(reason: .stale, selected: selected, fields: fields)
        do {
            let exchange = CacheExchange(request, key, forward, entries, generation, at: time.read())
            let response = try await send(exchange, next)
            for try await _ in response.body {}
        } catch {
            report(error)
        }
    }
}
