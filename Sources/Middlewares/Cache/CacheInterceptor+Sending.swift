internal import Foundation
internal import InterceptorsCore

// Looking up, serving stored responses, and sending.
extension CacheInterceptor {
    /// Answers a request from the stored entries of its key, or by sending it.
    func answer(_ exchange: consuming CacheExchange) async throws -> HTTPResponse {
        switch policy.decide(exchange.request, stored: exchange.entries, now: time.read().steady) {
        case .serve(let served):
            let outcome = CacheOutcome(served.stale == nil ? .hit : .stale)
            if let response = try await serve(served, exchange.entries[served.index], exchange, outcome) {
                if served.isValidatedAfterwards {
                    exchange.request.note(.revalidatesInBackground)
                    revalidate(exchange)
                }
                return response
            }
            // The entry couldn't be read: decides again as if nothing were stored.
            exchange.entries = []
            return try await answer(exchange)
        case .unsatisfiable:
            return CacheAnswers.gatewayTimeout(exchange.request, CacheOutcome(.unsatisfiable))
        case .forward(let forward):
            exchange.forward = forward
            return try await send(exchange)
        }
    }

    /// Looks up the entries and the generation of an exchange's key. If the store fails, the exchange stays without them.
    func lookUp(_ exchange: inout CacheExchange) async {
        let isPaid = await payDebt(of: exchange.key)
        (exchange.entries, exchange.generation) = ([], nil)
        // The store removes a damaged record, so a second lookup finds the key without it.
        for _ in 0..<2 {
            do {
                let found = try await store.snapshot(of: exchange.key)
                exchange.generation = found.generation
                if isPaid { exchange.entries = found.entries }
                return
            } catch {
                report(error)
                guard (error as? CacheStoreError)?.code == .entryDamaged else { return }
            }
        }
    }

    /// The response from a stored entry; `nil` if the entry can't be read. The entry is removed, unless it may be readable
    /// later.
    private func serve(
        _ served: CachePolicy.Served,
        _ entry: CacheEntry,
        _ exchange: CacheExchange,
        _ outcome: CacheOutcome
    ) async throws -> HTTPResponse? {
        do {
            return try await CacheAnswers.response(served, from: entry, to: exchange.request, outcome: outcome)
        } catch let error as TransportError where error.code == .bodyTooLarge {
            throw error
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            report(error)
            let code = (error as? CacheStoreError)?.code
            // For instance on a locked device, or at the limit of open files.
            if code != .storeUnavailable && code != .storeBusy {
                await attempt { try await $0.remove([entry.id], of: exchange.key) }
            }
            return nil
        }
    }

    func send(_ exchange: CacheExchange) async throws -> HTTPResponse {
        let request = exchange.request
        let outgoing = exchange.outgoing
        let ticket = arrivals.issueTicket(for: exchange.key)
        let start = time.read().steady
        let response: HTTPResponse
        do {
            response = try await exchange.next(outgoing)
        } catch {
            let redirects = (error as? any HTTPError)?.context.redirects ?? []
            // An unsafe request may have changed the resource, unless it is certain that nothing was sent.
            if !request.method.isSafe, !UnsentError.isCertain(after: error, of: request) {
                await remove([request.url] + redirects.map(\.target), seenBy: exchange.key.partition)
            }
            // The server was reached, and the failure is another URL's.
            guard redirects.isEmpty, !outgoing.hasBeenRedirected else { throw error }
            return try await recover(from: error, exchange)
        }
        let end = time.read()
        ticket.arrive()
        var outcome = CacheOutcome(.miss)
        outcome.forwardReason = exchange.forward.reason
        outcome.forwardStatus = response.status.code
        var decision = policy.receive(
            response,
            to: request,
            exchange.forward,
            stored: exchange.entries,
            timing: CachePolicy.Timing(responseTime: end.steady, wallTime: end.wall, delay: end.steady - start),
            isElsewhere: !response.context.redirects.isEmpty || !outgoing.isAnswered(by: response)
        )
        if case .store = decision, !(await meetsConditions(response, to: request)) { decision = .pass(.condition) }
        return try await carryOut(decision, on: consume response, exchange, ticket, outcome)
    }

    // Without a response, the selected entry may be served stale (RFC 9111 §4.2.4, RFC 5861 §4).
    private func recover(from error: any Error, _ exchange: CacheExchange) async throws -> HTTPResponse {
        guard !(error is CancellationError), !Task.isCancelled, let entry = exchange.selected else { throw error }
        let isDisconnected = isDisconnection(error)
        guard isDisconnected || CachePolicy.isServerFailure(error) else { throw error }
        var outcome = CacheOutcome(.stale)
        outcome.forwardReason = exchange.forward.reason
        switch policy.afterFailure(entry.response, exchange.request, now: time.read().steady) {
        case .served(let reason) where isDisconnected || reason == .staleIfError:
            report(error)
            if let response = try await serveSelected(exchange, entry, outcome, reason) { return response }
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
        let outer = request.context.storingCondition
        guard let condition = stores?.and(outer) ?? outer else { return true }
        if let length = response.body.length, length < StoringCondition.hopThreshold {
            return condition.isMet(by: response)
        }
        return await Self.meetsElsewhere(condition, response)
    }

    @concurrent
    private static func meetsElsewhere(_ condition: StoringCondition, _ response: HTTPResponse) async -> Bool {
        condition.isMet(by: response)
    }

    /// The response from the selected entry; `nil` if it can't be read.
    ///
    /// - Parameter stale: why the entry may be served stale; `nil` if the server has confirmed it.
    func serveSelected(
        _ exchange: CacheExchange,
        _ entry: CacheEntry,
        _ outcome: CacheOutcome,
        _ stale: CacheOutcome.Reason?
    ) async throws -> HTTPResponse? {
        let form = CachePolicy.form(of: entry, for: exchange.request)
        let freshness = CachePolicy.freshness(of: entry.response, now: time.read().steady)
        var served = CachePolicy.Served(index: 0, form: form, freshness: freshness)
        served.stale = stale
        return try await serve(served, entry, exchange, outcome)
    }
}

extension CacheInterceptor {
    /// Validates an entry in the background, after it has been served stale (RFC 5861 §3).
    private func revalidate(_ exchange: CacheExchange) {
        var exchange = exchange
        exchange.request.method = .get
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .range, .ifRange] {
            exchange.request.headers.remove(name)
        }
        exchange.request.context.downloadProgress = nil
        exchange.request.context.uploadProgress = nil
        exchange.request.context.interim = nil
        // The caller already has a response, so the caller's deadline doesn't apply.
        exchange.request.context.deadline = nil
        let client = exchange.request.context.clientOwner
        backgroundValidations.begin(exchange.key) { [exchange] in
            await self.validate(exchange)
            withExtendedLifetime(client) {}
        }
    }

    private func validate(_ earlier: CacheExchange) async {
        // If the key was invalidated after the stale response was found, the next request asks the server anyway.
        var exchange = earlier
        await lookUp(&exchange)
        guard let generation = exchange.generation, generation == earlier.generation,
            let selected = policy.select(from: exchange.entries, for: exchange.request)
        else { return }
        let fields = policy.validation(of: exchange.entries[selected], for: exchange.request)
        exchange.forward = CachePolicy.Forward(reason: .stale, selected: selected, fields: fields)
        do {
            for try await _ in try await send(exchange).body {}
        } catch {
            report(error)
        }
    }
}
