internal import Synchronization

/// An event inside a ``CredentialRefresher``, for tests.
enum RefreshEvent: Sendable {
    /// Another call waits for a refresh. The value is the number of waiters now.
    case waiting(Int)
    /// A refresh has ended, superseded or not, and its waiters have been resumed.
    case ended
}

/// Runs the refreshes that ``SingleFlight`` decides on.
///
/// `SingleFlight` is the state machine, mutated only under the lock. This class starts the tasks and resumes the
/// continuations outside the lock.
final class CredentialRefresher<Value: Sendable>: Sendable {
    typealias Flights = SingleFlight<Value, CheckedContinuation<Credential<Value>, any Error>>

    private let flights: Mutex<Flights>
    private let refresh: @Sendable (_ rejected: Value, _ client: Client?) async throws -> Value
    private let onChange: @Sendable (Value) -> Void
    private let observe: @Sendable (RefreshEvent) -> Void
    private let needsClient: Bool
    private let final: Value?
    private let onSignOut: @Sendable (AuthenticationError) -> Void
    private let pause: Duration
    private let stopwatch: Stopwatch
    /// Whether ``SingleFlight/unprovenSince`` is set: a copy outside the lock, because every response reads it. Written only
    /// under the lock.
    private let isUnproven = Atomic(false)

    /// Creates a refresher.
    ///
    /// - Parameters:
    ///   - pause: the time after a refresh in which a rejection of the new value starts no other refresh, unless a server has
    ///     accepted the value.
    ///   - clock: measures the pause.
    ///   - needsClient: whether `refresh` needs a client. A call without a client then starts no refresh, and fails.
    ///   - final: the value of the session's end, for a `refresh` that may end the session; `nil` for one that can't.
    ///   - onSignOut: called when a refresh has ended the session, before its waiters are resumed.
    ///   - onChange: called with each new value, in order. The call happens under the lock, which keeps the order, so it must
    ///     only put the value into a queue.
    ///   - observe: called with each event, for tests.
    ///   - refresh: obtains a new value. It gets the client whose request started the refresh.
    init(
        _ value: Value,
        pause: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock(),
        needsClient: Bool = false,
        final: Value? = nil,
        onSignOut: @escaping @Sendable (AuthenticationError) -> Void = { _ in },
        onChange: @escaping @Sendable (Value) -> Void = { _ in },
        observe: @escaping @Sendable (RefreshEvent) -> Void = { _ in },
        refresh: @escaping @Sendable (_ rejected: Value, _ client: Client?) async throws -> Value
    ) {
        flights = Mutex(Flights(value))
        self.pause = pause
        self.needsClient = needsClient
        self.final = final
        self.onSignOut = onSignOut
        stopwatch = Stopwatch.starting(clock)
        self.onChange = onChange
        self.observe = observe
        self.refresh = refresh
    }

    var current: Credential<Value> { flights.withLock(\.current) }

    /// The current value, and whether a refresh of it is under way.
    var state: (current: Credential<Value>, isRefreshing: Bool, isClosed: Bool) {
        flights.withLock { ($0.current, $0.flight != nil, $0.isClosed) }
    }

    /// Whether the current task belongs to a refresh of this credential.
    var isRefreshedByCurrentTask: Bool { CredentialRefresh.isCurrent(of: self) }

    /// Whether a rejection of this generation can lead to a newer value.
    func canRenew(_ generation: CredentialGeneration) -> Bool {
        flights.withLock { $0.canRenew(generation) }
    }

    /// Whether a rejection of this generation should start or join a refresh: no sign-out has ended its session, and no pause
    /// is in effect.
    func isWorthRenewing(_ generation: CredentialGeneration) -> Bool {
        let now = stopwatch.elapsed()
        return flights.withLock { $0.canRenew(generation) && !$0.isTooSoon(after: generation, at: now, pause: pause) }
    }

    /// Records that a response accepted the value its request carried.
    @inline(__always)
    func noteAnswer(_ answer: HTTPResponse, to record: AuthorizationRecord) {
        if isUnproven.load(ordering: .relaxed) { prove(by: answer, to: record) }
    }

    private func prove(by answer: HTTPResponse, to record: AuthorizationRecord) {
        // A hit in an inner cache, a failing server, a proxy or a limit of requests proves nothing about the credential.
        let outcome = answer.context.cacheOutcome
        guard case .used(let generation) = record.last,
            let code = outcome == nil ? answer.status.code : outcome?.forwardStatus, code < 500,
            ![407, 408, 429].contains(code)
        else { return }
        flights.withLock { flights in
            flights.prove(generation)
            noteProof(of: flights)
        }
    }

    /// Records that a request which was sent again with a new value was rejected again: a limit of its permissions, rather than
    /// the age of the value. Without this, an endpoint that rejects every request would cause a refresh for each of them.
    func noteRejectedAgain(_ record: AuthorizationRecord) {
        guard case .used(let generation) = record.last else { return }
        flights.withLock { $0.noteRejectedAgain(generation) }
    }

    // Called under the lock, so that the copy never lags behind the state.
    private func noteProof(of flights: borrowing Flights) {
        isUnproven.store(flights.unprovenSince != nil, ordering: .relaxed)
    }

    /// Returns a value newer than the rejected one: the current value if it is newer, otherwise the result of the running or
    /// a new refresh. For `nil`, waits for a running refresh, and otherwise returns the current value.
    ///
    /// A refresh runs in a separate task. Cancelling the waiters, even the one that started the refresh, doesn't cancel the
    /// refresh.
    ///
    /// - Parameters:
    ///   - client: the client whose request needs the value, for a refresh that this call starts.
    ///   - notes: the journal's notes of the interceptor that needs the value.
    ///   - cause: the reason for the notes.
    /// - Throws: the refresh's error; ``AuthenticationError`` with ``HTTPErrorCode/signedOut`` if the session of
    ///   the rejected value has ended; `CancellationError` at once if the current task is cancelled.
    func value(
        rejecting rejected: CredentialGeneration?,
        client: Client? = nil,
        notes: CallNotes? = nil,
        because cause: CallNote.Cause = .expired
    ) async throws -> Credential<Value> {
        let refusal = needsClient && client == nil ? AuthenticationError.noClient : nil
        let ticket = flights.withLock { $0.issueTicket() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let step = flights.withLock {
                    $0.wait(ticket, continuation, rejecting: rejected, unlessStarting: refusal)
                }
                switch step {
                case .wait(let count):
                    notes?.add(.refresh(cause, isJoined: true))
                    observe(.waiting(count))
                case .start(let flight, let rejected):
                    notes?.add(.refresh(cause, isJoined: false))
                    start(flight, rejected, client)
                    observe(.waiting(1))
                case .resume(let waiter, let outcome):
                    waiter.resume(with: Self.result(outcome))
                }
            }
        } onCancel: {
            flights.withLock { $0.cancel(ticket) }?.resume(throwing: CancellationError())
        }
    }

    /// Sets a value obtained elsewhere, and supersedes a running refresh.
    ///
    /// - Parameter beginsSession: whether the value ends the session of the last value and begins another.
    func replace(with value: Value, beginsSession: (_ last: Value) -> Bool = { _ in false }) {
        resume(
            flights.withLock { flights in
                onChange(value)
                defer { noteProof(of: flights) }
                return flights.replace(value, inNewSession: beginsSession(flights.current.value))
            }
        )
    }

    /// Ends the session and sets its final value. Nothing is refreshed until ``replace(with:)``.
    func close(with value: Value) {
        resume(
            flights.withLock { flights in
                onChange(value)
                defer { noteProof(of: flights) }
                return flights.close(value)
            }
        )
    }

    private func start(_ flight: Int, _ rejected: Value, _ client: Client?) {
        let mark = CredentialRefresh.Flight(owner: ObjectIdentifier(self)) { [self] in
            flights.withLock { $0.isRunning(flight) }
        }
        Task(executorPreference: StartedWork.watcher) { [self] in
            do {
                let outer = CredentialRefresh.flights
                let value = try await CredentialRefresh.$flights.withValue(outer + [mark]) {
                    try await refresh(rejected, client)
                }
                finish(flight, with: .success(value))
            } catch {
                let endsSession = AuthenticationError.endsSession(error)
                finish(flight, with: .failure(AuthenticationError.refreshFailed(error)), endsSession: endsSession)
            }
        }
    }

    private func finish(_ flight: Int, with result: Result<Value, any Error>, endsSession: Bool = false) {
        let now = stopwatch.elapsed()
        let end = endsSession ? final : nil
        let resumption = flights.withLock { flights in
            let resumption = flights.finish(flight, with: result, at: now, closingWith: end)
            noteProof(of: flights)
            if case .current(let new) = resumption?.outcome { onChange(new.value) }
            if resumption != nil, let end { onChange(end) }
            return resumption
        }
        if let resumption {
            if end != nil, case .failure(let error as AuthenticationError) = result { onSignOut(error) }
            resume(resumption)
        }
        observe(.ended)
    }

    private func resume(_ resumption: Flights.Resumption) {
        let result = Self.result(resumption.outcome)
        for waiter in resumption.waiters { waiter.resume(with: result) }
    }

    private static func result(_ outcome: Flights.Outcome) -> Result<Credential<Value>, any Error> {
        switch outcome {
        case .current(let credential): .success(credential)
        case .closed: .failure(AuthenticationError.signedOut)
        case .cancelled: .failure(CancellationError())
        case .failed(let error): .failure(error)
        }
    }
}
