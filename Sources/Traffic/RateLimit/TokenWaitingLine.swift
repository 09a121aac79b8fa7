/// The waiting line for one bucket's tokens, as a value without side effects.
///
/// Call its mutating methods under a lock, and act on their results outside the lock.
///
/// The first waiter is the leader: it sleeps until a token is available. All other waiters wait to become the leader. So only
/// one task sleeps at a time, no token is reserved for a waiter that may leave, and each departure moves the others up.
struct TokenWaitingLine<Waiter: Sendable>: Sendable {
    /// The next action of a request that asked for a token.
    enum Step: Sendable {
        /// The request has a token: send it.
        case go
        /// The request is the leader: call ``lead(_:at:)``.
        case lead(ticket: Int)
        /// Wait until resumed to lead. The ticket finds the waiter in the line.
        case wait(ticket: Int, Waiter)
        /// The maximum number of requests is already waiting.
        case full(waiting: Int)
        /// The request would have to wait longer than allowed.
        case tooLong(wait: Duration)
    }

    /// The next action of the leader.
    enum Lead: Sendable {
        /// The leader has a token: send its request, and resume the next leader, if there is one.
        case go(next: Waiter?)
        /// Sleep until this time, then call ``lead(_:at:)`` again.
        case sleep(until: Duration)
    }

    private var bucket: TokenBucket
    private var leader: Int?
    private var line = WaitingLine<Waiter>()
    private var lastTicket = 0

    init(_ bucket: TokenBucket) { self.bucket = bucket }

    /// The number of waiters, including the leader.
    var waiting: Int { line.count + (leader == nil ? 0 : 1) }

    /// Whether the line is in its initial state, so that it can be forgotten.
    func isIdle(at now: Duration) -> Bool { leader == nil && bucket.isFull(at: now) }

    /// Asks for a token.
    ///
    /// - Parameters:
    ///   - maxQueued: the maximum number of waiters; `nil` for no limit.
    ///   - maxWait: the maximum wait; `nil` for no limit.
    ///   - waiter: created only if the request has to wait in line behind a leader.
    mutating func enter(
        at now: Duration,
        maxQueued: Int?,
        maxWait: Duration?,
        _ waiter: @autoclosure () -> Waiter
    ) -> Step {
        let wait = bucket.wait(at: now, behind: waiting)
        if leader == nil, wait == .zero {
            bucket.acquire(at: now)
            return .go
        }
        if let maxQueued, waiting >= maxQueued { return .full(waiting: waiting) }
        if let maxWait, wait > maxWait { return .tooLong(wait: wait) }
        lastTicket += 1
        guard leader != nil else {
            leader = lastTicket
            return .lead(ticket: lastTicket)
        }
        let waiter = waiter()
        line.join(lastTicket, waiter)
        return .wait(ticket: lastTicket, waiter)
    }

    /// Called by the leader: takes a token if one is available.
    mutating func lead(_ ticket: Int, at now: Duration) -> Lead {
        let wait = bucket.wait(at: now)
        guard wait == .zero else { return .sleep(until: now + wait) }
        bucket.acquire(at: now)
        return .go(next: passOn(from: ticket))
    }

    /// Called by the leader: gives up without a token.
    ///
    /// - Returns: the next leader, which the caller must resume.
    mutating func resign(_ ticket: Int) -> Waiter? { passOn(from: ticket) }

    /// Removes a waiter from the line.
    ///
    /// - Returns: the waiter, which the caller must resume; `nil` if the waiter already leads or has left.
    mutating func leave(_ ticket: Int) -> Waiter? { line.remove(ticket) }

    /// Takes a token without waiting, even if none is available; all waiters then wait longer.
    mutating func bypass(at now: Duration) { bucket.acquire(at: now) }

    private mutating func passOn(from ticket: Int) -> Waiter? {
        guard ticket == leader else { return nil }
        let next = line.removeFirst()
        leader = next?.ticket
        return next?.waiter
    }
}
