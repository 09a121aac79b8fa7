internal import Synchronization

/// An event inside a ``TokenStore``, for tests.
enum RefreshEvent: Sendable {
    /// Another call waits for a refresh. The value is the number of waiters now.
    case waiting(Int)
    /// The store has this token now. Called under the lock.
    case changed(TokenStore.Token?)
    /// A refresh has ended, superseded or not, and its waiters have been resumed.
    case ended
}

/// Runs the refreshes that ``SingleFlight`` decides on.
///
/// `SingleFlight` is the state machine, mutated only under the lock. The store starts the tasks and resumes the waiters outside
/// the lock.
extension TokenStore {
    typealias Flights = SingleFlight<HeldToken, Waiter<Result<Credential<HeldToken>, any Error>>>

    /// Whether the closure renews a credential that the store doesn't hold.
    var isForLogIns: Bool { if case .logIn = renewal { true } else { false } }

    var generation: CredentialGeneration { flights.withLock(\.current).generation }

    /// Whether a rejection of this generation should start or join a refresh: no sign-out has ended its session, and no pause
    /// is in effect.
    func isWorthRenewing(_ generation: CredentialGeneration) -> Bool {
        let now = stopwatch.elapsed()
        return flights.withLock {
            $0.canRenew(generation) && !$0.isTooSoon(after: generation, at: now, pause: options.pause)
        }
    }

    /// Records that a response accepted the value its request carried.
    @inline(__always)
    func noteAnswer(_ answer: HTTPResponse, to record: AuthorizationRecord) {
        if isUnproven.load(ordering: .relaxed) { prove(by: answer, to: record) }
    }

    private func prove(by answer: HTTPResponse, to record: AuthorizationRecord) {
        // A hit in an inner cache, a failing server, a proxy or a limit of requests proves nothing about the credential.
        let outcome = answer.context.cacheOutcome
        guard let generation = record.generation(in: answer),
            let code = outcome == nil ? answer.status.code : outcome?.forwardStatus, code < 500,
            ![407, 408, 429].contains(code)
        else { return }
        change { $0.prove(generation) }
    }

    /// Records that a request which was sent again with a new value was rejected again: a limit of its permissions, rather than
    /// the age of the value. Without this, an endpoint that rejects every request would cause a refresh for each of them.
    func noteRejectedAgain(_ response: HTTPResponse?, to record: AuthorizationRecord) {
        if let generation = record.generation(in: response) { change { $0.noteRejectedAgain(generation) } }
    }

    /// Returns a value newer than the rejected one: the current value if it is newer, otherwise the result of the running or
    /// a new refresh. For `nil`, waits for a running refresh, and otherwise returns the current value.
    ///
    /// A refresh runs in a separate task. Cancelling the waiters, even the one that started the refresh, doesn't cancel the
    /// refresh.
    ///
    /// - Parameters:
    ///   - request: the request that needs the value. A refresh that this call starts gets its client.
    ///   - cause: the reason for the journal.
    /// - Throws: the refresh's error; ``AuthenticationError`` with ``HTTPErrorCode/signedOut`` if the session of
    ///   the rejected value has ended; `CancellationError` at once if the current task is cancelled.
    func value(
        rejecting rejected: CredentialGeneration?,
        for request: HTTPRequest,
        because cause: String
    ) async throws -> Credential<HeldToken> {
        try Task.checkCancellation()
        let (client, waiter) = (request.context.client, Waiter<Flights.Outcome>())
        var refusal: AuthenticationError?
        if case .tokenThroughClient = renewal, client == nil { refusal = .noClient }
        let (ticket, step) = flights.withLock { [refusal] flights in
            let ticket = flights.issueTicket()
            return (ticket, flights.wait(ticket, waiter, rejecting: rejected, unlessStarting: refusal))
        }
        switch step {
        case .wait(let count):
            request.note(.refresh(cause, isJoined: true))
            options.observe(.waiting(count))
        case .start(let flight, let rejected):
            request.note(.refresh(cause, isJoined: false))
            start(flight, rejected, client)
            options.observe(.waiting(1))
        case .end(let outcome): return try outcome.get()
        }
        return try await waiter.outcome { [self] _ in
            flights.withLock { $0.cancel(ticket) }?.resume(with: .failure(CancellationError()))
        }.get()
    }

    private func start(_ flight: Int, _ rejected: HeldToken, _ client: Client?) {
        Task(executorPreference: StartedWork.watcher) { [self] in
            do {
                let new = try await CredentialRefresh.run(of: self) { try await renewed(rejected, client) }
                finish(flight, with: .success(new))
            } catch {
                // A log-in can't end a session for good, because nothing would begin another.
                let endsSession = !isForLogIns && AuthenticationError.endsSession(error)
                finish(flight, with: .failure(.refreshFailed(error)), endsSession: endsSession)
            }
        }
    }

    private func renewed(_ rejected: HeldToken, _ client: Client?) async throws -> HeldToken {
        var token: Token
        switch renewal {
        case .token(let refresh): token = try await refresh(rejected.token)
        case .tokenThroughClient(let refresh):
            guard let client else { throw AuthenticationError.noClient }
            token = try await refresh(rejected.token, client)
        case .logIn(let logIn):
            try await logIn()
            return .none
        }
        token.refreshToken = token.refreshToken ?? rejected.token?.refreshToken
        token.account = token.account ?? rejected.token?.account
        return HeldToken(token, leeway: options.leeway, receivedAt: now())
    }

    private func finish(_ flight: Int, with result: Result<HeldToken, AuthenticationError>, endsSession: Bool = false) {
        let now = stopwatch.elapsed()
        let resumption = change {
            $0.finish(flight, with: result.mapError { $0 }, at: now, closingWith: endsSession ? HeldToken.none : nil)
        }
        if resumption != nil, endsSession, case .failure(let error) = result { options.onSignOut(error) }
        resumption?.resume()
        options.observe(.ended)
    }

    /// Changes the state. A new token is queued for persisting under the lock, which keeps the order.
    func change<Outcome: Sendable>(_ body: (inout Flights) -> Outcome) -> Outcome {
        flights.withLock { flights in
            let before = flights.current.generation
            let outcome = body(&flights)
            isUnproven.store(flights.isUnproven, ordering: .relaxed)
            if flights.current.generation != before {
                let token = flights.current.value.token
                options.observe(.changed(token))
                persistence?.enqueue(token)
            }
            return outcome
        }
    }
}

extension TokenStore.Flights.Resumption {
    func resume() {
        for waiter in waiters { waiter.resume(with: outcome) }
    }
}
