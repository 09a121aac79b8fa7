/// Identifies one state of a credential: the state a request was sent with, and so the state that its response rejects.
struct CredentialGeneration: Sendable, Hashable {
    /// Increases with each sign-out. A request sent before a sign-out never gets a credential from after it.
    var session = 0
    /// Increases with each change of the credential.
    var number = 0
}

/// A credential with its generation.
struct Credential<Value> {
    let value: Value
    let generation: CredentialGeneration
}

/// The state machine of a credential that at most one refresh ("flight") renews at a time. Mutate it under the lock, and act
/// on the results outside the lock.
///
/// | state | effect of rejecting the current generation | transition out of the state |
/// | --- | --- | --- |
/// | idle | starts a flight and waits for it | a rejection, ``close(_:)`` |
/// | in flight | waits for the flight | ``finish(_:with:at:closingWith:)`` of that flight, ``replace(_:)``, ``close(_:)`` |
/// | closed | fails with ``Outcome/closed`` | ``replace(_:)`` |
///
/// A flight superseded by `replace` or `close` runs to its end, but its result is discarded.
struct SingleFlight<Value, Waiter> {
    /// The result that a waiter is resumed with.
    enum Outcome {
        case current(Credential<Value>)
        case closed
        case cancelled
        case failed(any Error)
    }

    /// The action to take for a caller of ``wait(_:_:rejecting:)``.
    enum Step {
        /// None: the caller waits for the running flight. `count` is the number of waiters now.
        case wait(count: Int)
        /// Start this flight. The caller waits for it.
        case start(flight: Int, rejected: Value)
        /// Resume the waiter at once.
        case resume(Waiter, Outcome)
    }

    /// The waiters to resume, in the order they came, and their common outcome.
    struct Resumption {
        let waiters: [Waiter]
        let outcome: Outcome
    }

    private enum Ticket {
        case issued
        case cancelled
        case waiting(Waiter)
    }

    private(set) var current: Credential<Value>
    private(set) var isClosed = false
    /// When a flight returned the current value; `nil` once a server has accepted the value, or if no flight returned it.
    private(set) var unprovenSince: Duration?
    /// The time at which a flight returned the current value; `nil` for a value from outside.
    private var renewedAt: Duration?
    /// Whether a request that was sent again with the current value was rejected again.
    private var wasRejectedAgain = false
    /// The flight whose result the waiters wait for.
    private(set) var flight: Int?
    /// All flights still running, including superseded ones.
    private var running: Set<Int> = []
    private var tickets: [Int: Ticket] = [:]
    /// The number of tickets whose callers wait.
    private var waiterCount = 0
    private var lastID = 0

    init(_ value: Value) {
        current = Credential(value: value, generation: CredentialGeneration())
    }

    /// Whether a rejection of this generation can lead to a newer value: no sign-out has come since.
    func canRenew(_ generation: CredentialGeneration) -> Bool {
        !isClosed && generation.session == current.generation.session
    }

    /// Whether a rejection of this generation is too early for another flight: a flight returned the value within the pause,
    /// and no server has accepted the value yet, or a request was rejected with it after it was rejected with the old value.
    func isTooSoon(after generation: CredentialGeneration, at now: Duration, pause: Duration) -> Bool {
        guard generation == current.generation, flight == nil,
            let since = wasRejectedAgain ? renewedAt : unprovenSince
        else { return false }
        return now - since < pause
    }

    /// Records that a request which was sent again with the value of a generation was rejected again.
    mutating func noteRejectedAgain(_ generation: CredentialGeneration) {
        if generation == current.generation { wasRejectedAgain = true }
    }

    /// Records that a server accepted the value of this generation.
    mutating func prove(_ generation: CredentialGeneration) {
        if generation == current.generation { unprovenSince = nil }
    }

    /// Whether this flight has not ended yet.
    func isRunning(_ flight: Int) -> Bool { running.contains(flight) }

    /// Registers a waiter before it waits, so that its cancellation is never lost: it may arrive before, during or after
    /// ``wait(_:_:rejecting:)``.
    mutating func issueTicket() -> Int {
        let ticket = nextID()
        tickets[ticket] = .issued
        return ticket
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
        if case .cancelled = tickets.removeValue(forKey: ticket) { return .resume(waiter, .cancelled) }
        if let rejected, !canRenew(rejected) { return .resume(waiter, .closed) }
        guard rejected == current.generation || (rejected == nil && flight != nil) else {
            return .resume(waiter, .current(current))
        }
        if let refusal, flight == nil { return .resume(waiter, .failed(refusal)) }
        tickets[ticket] = .waiting(waiter)
        waiterCount += 1
        guard flight == nil else { return .wait(count: waiterCount) }
        let flight = nextID()
        self.flight = flight
        running.insert(flight)
        return .start(flight: flight, rejected: current.value)
    }

    /// Cancels a wait. Returns the waiter to resume with ``Outcome/cancelled``, or `nil` if it isn't waiting. The flight goes
    /// on.
    mutating func cancel(_ ticket: Int) -> Waiter? {
        switch tickets[ticket] {
        case .issued: tickets[ticket] = .cancelled
        case .waiting(let waiter):
            tickets[ticket] = nil
            waiterCount -= 1
            return waiter
        case .cancelled, nil: break
        }
        return nil
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
        running.remove(flight)
        guard flight == self.flight else { return nil }
        self.flight = nil
        switch result {
        case .success(let value):
            advance(to: value)
            (unprovenSince, renewedAt) = (now, now)
            return Resumption(waiters: takeWaiters(), outcome: .current(current))
        case .failure(let error):
            // The waiters of a session that ends get the reason.
            let waiters = final.map { close($0).waiters } ?? takeWaiters()
            return Resumption(waiters: waiters, outcome: .failed(error))
        }
    }

    /// Sets a value obtained elsewhere, and supersedes the running flight. Its waiters get the new value; if the value begins
    /// a new session, which the waiters don't belong to, they get ``Outcome/closed``.
    mutating func replace(_ value: Value, inNewSession: Bool = false) -> Resumption {
        isClosed = false
        flight = nil
        advance(to: value, inNewSession: inNewSession)
        return Resumption(waiters: takeWaiters(), outcome: inNewSession ? .closed : .current(current))
    }

    /// Ends the session. The waiters get ``Outcome/closed``, and nothing is refreshed until ``replace(_:)``.
    mutating func close(_ value: Value) -> Resumption {
        isClosed = true
        flight = nil
        advance(to: value, inNewSession: true)
        return Resumption(waiters: takeWaiters(), outcome: .closed)
    }

    private mutating func advance(to value: Value, inNewSession: Bool = false) {
        var generation = current.generation
        generation.number += 1
        (unprovenSince, renewedAt, wasRejectedAgain) = (nil, nil, false)
        if inNewSession { generation.session += 1 }
        current = Credential(value: value, generation: generation)
    }

    private mutating func takeWaiters() -> [Waiter] {
        let waiting = tickets.compactMap { id, ticket in
            if case .waiting(let waiter) = ticket { (id: id, waiter: waiter) } else { nil }
        }
        for (id, _) in waiting { tickets[id] = nil }
        waiterCount = 0
        return waiting.sorted { $0.id < $1.id }.map(\.waiter)
    }

    private mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }
}

extension Credential: Sendable where Value: Sendable {}
extension SingleFlight.Outcome: Sendable where Value: Sendable {}
extension SingleFlight.Step: Sendable where Value: Sendable, Waiter: Sendable {}
extension SingleFlight.Resumption: Sendable where Value: Sendable, Waiter: Sendable {}
