/// Identifies one state of a credential: the state a request was sent with, and so the state that its response rejects.
struct CredentialGeneration: Sendable, Hashable {
    /// Increases with each sign-out. A request sent before a sign-out never gets a credential from after it.
    var session = 0
    /// Increases with each change of the credential.
    var number = 0
}

/// A credential with its generation.
struct Credential<Value: Sendable>: Sendable {
    let value: Value
    let generation: CredentialGeneration
}

/// The state machine of a credential that at most one refresh ("flight") renews at a time. Mutate it under the lock, and act
/// on the results outside the lock.
///
/// | state | effect of rejecting the current generation | transition out of the state |
/// | --- | --- | --- |
/// | idle | starts a flight and waits for it | a rejection, ``close(_:)`` |
/// | in flight | waits for the flight | its ``finish(_:with:at:closingWith:)``, ``replace(_:inNewSession:)``, ``close(_:)`` |
/// | closed | fails with ``InterceptorsTransport/HTTPErrorCode/signedOut`` | ``replace(_:inNewSession:)`` |
///
/// A flight superseded by `replace` or `close` runs to its end, but its result is discarded.
struct SingleFlight<Value: Sendable, Waiter: Sendable> {
    /// The result that a waiter is resumed with.
    typealias Outcome = Result<Credential<Value>, any Error>

    /// The action to take for a caller of ``wait(_:_:rejecting:unlessStarting:)``.
    enum Step: Sendable {
        /// None: the caller waits for the running flight. `count` is the number of waiters now.
        case wait(count: Int)
        /// Start this flight. The caller waits for it.
        case start(flight: Int, rejected: Value)
        /// The caller gets this outcome at once.
        case end(Outcome)
    }

    /// The waiters to resume, in the order they came, and their common outcome.
    struct Resumption: Sendable {
        let waiters: [Waiter]
        let outcome: Outcome
    }

    private(set) var current: Credential<Value>
    private(set) var isClosed = false
    /// When a flight returned the current value; `nil` for a value from outside.
    private var renewedAt: Duration?
    /// Whether a server has accepted the current value.
    private var isProven = false
    /// Whether a request that was sent again with the current value was rejected again.
    private var wasRejectedAgain = false
    /// The flight whose result the waiters wait for.
    private(set) var flight: Int?
    private var waiters: [(ticket: Int, waiter: Waiter)] = []
    private var lastID = 0

    init(_ value: Value) {
        current = Credential(value: value, generation: CredentialGeneration())
    }

    /// Whether a flight returned the current value, and no server has accepted it yet.
    var isUnproven: Bool { renewedAt != nil && !isProven }

    /// Whether a rejection of this generation can lead to a newer value: no sign-out has come since.
    func canRenew(_ generation: CredentialGeneration) -> Bool {
        !isClosed && generation.session == current.generation.session
    }

    /// Whether a rejection of this generation is too early for another flight: a flight returned the value within the pause,
    /// and no server has accepted the value yet, or a request was rejected with it after it was rejected with the old value.
    func isTooSoon(after generation: CredentialGeneration, at now: Duration, pause: Duration) -> Bool {
        guard generation == current.generation, flight == nil, let renewedAt, !isProven || wasRejectedAgain else {
            return false
        }
        return now - renewedAt < pause
    }

    /// Records that a request which was sent again with the value of a generation was rejected again.
    mutating func noteRejectedAgain(_ generation: CredentialGeneration) {
        if generation == current.generation { wasRejectedAgain = true }
    }

    /// Records that a server accepted the value of this generation.
    mutating func prove(_ generation: CredentialGeneration) {
        if generation == current.generation { isProven = true }
    }

    /// A number for a waiter, by which ``cancel(_:)`` finds it.
    mutating func issueTicket() -> Int {
        lastID += 1
        return lastID
    }

    /// Asks for a value newer than the rejected one. Without a rejected one, asks for the running flight's value, or else the
    /// current value.
    ///
    /// - Parameter refusal: the error for a caller that can't start a flight, if no flight is running.
    mutating func wait(
        _ ticket: Int,
        _ waiter: Waiter,
        rejecting rejected: CredentialGeneration?,
        unlessStarting refusal: (any Error)? = nil
    ) -> Step {
        if let rejected, !canRenew(rejected) { return .end(.failure(AuthenticationError.signedOut)) }
        guard rejected == current.generation || (rejected == nil && flight != nil) else {
            return .end(.success(current))
        }
        if let refusal, flight == nil { return .end(.failure(refusal)) }
        waiters.append((ticket, waiter))
        guard flight == nil else { return .wait(count: waiters.count) }
        let flight = issueTicket()
        self.flight = flight
        return .start(flight: flight, rejected: current.value)
    }

    /// Cancels a wait. Returns the waiter to resume, or `nil` if it isn't waiting. The flight goes on.
    mutating func cancel(_ ticket: Int) -> Waiter? {
        waiters.firstIndex { $0.ticket == ticket }.map { waiters.remove(at: $0).waiter }
    }

    /// Ends a flight. Returns `nil` if the flight was superseded; its result is then discarded.
    ///
    /// - Parameters:
    ///   - now: the time by the clock that ``isTooSoon(after:at:pause:)`` uses.
    ///   - final: the value of the session's end, if the result is a failure that ends the session.
    mutating func finish(
        _ flight: Int,
        with result: Result<Value, any Error>,
        at now: Duration = .zero,
        closingWith final: Value? = nil
    ) -> Resumption? {
        guard flight == self.flight else { return nil }
        self.flight = nil
        switch result {
        case .success(let value):
            advance(to: value)
            renewedAt = now
            return Resumption(waiters: takeWaiters(), outcome: .success(current))
        case .failure(let error):
            // The waiters of a session that ends get the reason.
            let waiters = final.map { close($0).waiters } ?? takeWaiters()
            return Resumption(waiters: waiters, outcome: .failure(error))
        }
    }

    /// Sets a value obtained elsewhere, and supersedes the running flight. Its waiters get the new value; if the value begins
    /// a new session, which the waiters don't belong to, they get ``InterceptorsTransport/HTTPErrorCode/signedOut``.
    mutating func replace(_ value: Value, inNewSession: Bool = false) -> Resumption {
        isClosed = false
        flight = nil
        advance(to: value, inNewSession: inNewSession)
        let outcome: Outcome = inNewSession ? .failure(AuthenticationError.signedOut) : .success(current)
        return Resumption(waiters: takeWaiters(), outcome: outcome)
    }

    /// Ends the session. The waiters get ``InterceptorsTransport/HTTPErrorCode/signedOut``, and nothing is refreshed until
    /// ``replace(_:inNewSession:)``.
    mutating func close(_ value: Value) -> Resumption {
        let resumption = replace(value, inNewSession: true)
        isClosed = true
        return resumption
    }

    private mutating func advance(to value: Value, inNewSession: Bool = false) {
        var generation = current.generation
        generation.number += 1
        if inNewSession { generation.session += 1 }
        (renewedAt, isProven, wasRejectedAgain) = (nil, false, false)
        current = Credential(value: value, generation: generation)
    }

    private mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }
}
