/// Names one state of a credential: what was used for a request, and so what an answer to it rejects.
struct CredentialGeneration: Sendable, Hashable {
    /// Goes up with each sign-out: what was begun before one never gets the credential of after it.
    var session = 0
    /// Goes up with each change of the credential.
    var number = 0
}

/// A credential with its generation.
struct Credential<Value> {
    let value: Value
    let generation: CredentialGeneration
}

/// A credential of which one renewal at a time is under way, as a value.
///
/// What happens is told to it by its mutating methods, under a lock; what they return is done outside of the lock.
///
/// | state | what a rejection of the current generation does | what ends the state |
/// | --- | --- | --- |
/// | idle | starts a flight and waits for it | a rejection, ``close(_:)`` |
/// | in flight | waits for the flight | ``finish(_:with:)`` of that flight, ``replace(_:)``, ``close(_:)`` |
/// | closed | is answered with ``Outcome/closed`` | ``replace(_:)`` |
///
/// A flight that was overtaken by `replace` or `close` goes on outside, but its result is discarded.
struct SingleFlight<Value, Waiter> {
    /// What a waiter is told.
    enum Outcome {
        case current(Credential<Value>)
        case closed
        case cancelled
        case failed(any Error)
    }

    /// What is to be done for one who asks.
    enum Step {
        /// Nothing: it waits for the flight that is under way. So many wait now.
        case wait(count: Int)
        /// Begin a flight for which it waits.
        case start(flight: Int, rejected: Value)
        /// Answer it at once.
        case resume(Waiter, Outcome)
    }

    /// Those to be told, in the order in which they came, and what they are told.
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
    /// The time at which a flight returned the current value, until a server accepts the value; otherwise `nil`.
    private(set) var unprovenSince: Duration?
    /// The time at which a flight returned the current value; `nil` for a value from outside.
    private var renewedAt: Duration?
    /// Whether a request that was sent again with the current value was rejected again.
    private var wasRejectedAgain = false
    /// The flight whose result is awaited.
    private(set) var flight: Int?
    /// The flights that have not ended, the overtaken ones among them.
    private var running: Set<Int> = []
    private var tickets: [Int: Ticket] = [:]
    private var lastID = 0

    init(_ value: Value) {
        current = Credential(value: value, generation: CredentialGeneration())
    }

    /// Whether a rejection of this generation can lead to a newer value: no sign-out came after it.
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

    /// Records that a server accepted the value of a generation.
    mutating func prove(_ generation: CredentialGeneration) {
        if generation == current.generation { unprovenSince = nil }
    }

    /// Whether the work of this flight has not ended yet.
    func isRunning(_ flight: Int) -> Bool { running.contains(flight) }

    /// Announces a waiter, so that its cancellation may come before, while, or after it waits.
    mutating func issueTicket() -> Int {
        let ticket = nextID()
        tickets[ticket] = .issued
        return ticket
    }

    /// Asks for a value newer than the rejected one; without a rejected one, for that of the flight, or the current one.
    mutating func wait(_ ticket: Int, _ waiter: Waiter, rejecting rejected: CredentialGeneration?) -> Step {
        if case .cancelled = tickets.removeValue(forKey: ticket) { return .resume(waiter, .cancelled) }
        if let rejected, !canRenew(rejected) { return .resume(waiter, .closed) }
        guard rejected == current.generation || (rejected == nil && flight != nil) else {
            return .resume(waiter, .current(current))
        }
        tickets[ticket] = .waiting(waiter)
        guard flight == nil else { return .wait(count: tickets.count) }
        let flight = nextID()
        self.flight = flight
        running.insert(flight)
        return .start(flight: flight, rejected: current.value)
    }

    /// Gives up waiting. The waiter, if it waits already, is to be told ``Outcome/cancelled``. The flight goes on.
    mutating func cancel(_ ticket: Int) -> Waiter? {
        switch tickets[ticket] {
        case .issued: tickets[ticket] = .cancelled
        case .waiting(let waiter):
            tickets[ticket] = nil
            return waiter
        case .cancelled, nil: break
        }
        return nil
    }

    /// Ends a flight. `nil` if it was overtaken, and its result is to be forgotten.
    ///
    /// - Parameter now: the time by the clock that ``isTooSoon(after:at:pause:)`` uses.
    mutating func finish(_ flight: Int, with result: Result<Value, any Error>, at now: Duration = .zero) -> Resumption?
    {
        running.remove(flight)
        guard flight == self.flight else { return nil }
        self.flight = nil
        switch result {
        case .success(let value):
            advance(to: value)
            (unprovenSince, renewedAt) = (now, now)
            return Resumption(waiters: takeWaiters(), outcome: .current(current))
        case .failure(let error):
            return Resumption(waiters: takeWaiters(), outcome: .failed(error))
        }
    }

    /// Sets a value from outside, which overtakes a flight: those who wait for it get the new value, unless it is that of a new
    /// session, of which they are no part.
    mutating func replace(_ value: Value, inNewSession: Bool = false) -> Resumption {
        isClosed = false
        flight = nil
        advance(to: value, inNewSession: inNewSession)
        return Resumption(waiters: takeWaiters(), outcome: inNewSession ? .closed : .current(current))
    }

    /// Ends the session: those who wait fail, and nothing is renewed until ``replace(_:)``.
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
