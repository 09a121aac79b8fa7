/// Those who wait for a token of one bucket: a value that decides, and does nothing.
///
/// What happens is told to it by its mutating methods, under a lock; what they return is done outside of the lock.
///
/// The first in line, the leader, sleeps until its token is there; all others wait to be made leaders. So one sleeps at a
/// time, no token is promised to anyone who may leave, and each who leaves brings all behind nearer.
struct RateLine<Waiter: Sendable>: Sendable {
    /// What is to be done for one who asks.
    enum Step: Sendable {
        /// Go: it has a token.
        case go
        /// It leads: ask ``lead(_:at:)``.
        case lead(ticket: Int)
        /// Wait to be told to lead: it is in line, where the ticket finds it.
        case wait(ticket: Int, Waiter)
        /// As many as may wait do.
        case full(waiting: Int)
        /// It would have to wait longer than it may.
        case tooLong(wait: Duration)
    }

    /// What a leader does.
    enum Lead: Sendable {
        /// Go: it has a token. The next leader, if there is one, is to be told.
        case go(next: Waiter?)
        /// Sleep until then, and ask again.
        case sleep(until: Duration)
    }

    private var bucket: TokenBucket
    private var leader: Int?
    private var line = WaitingLine<Waiter>()
    private var lastTicket = 0

    init(_ bucket: TokenBucket) { self.bucket = bucket }

    /// How many wait, the leader included.
    var waiting: Int { line.count + (leader == nil ? 0 : 1) }

    /// Whether it is as a new one is, and may be forgotten.
    func isIdle(at now: Duration) -> Bool { leader == nil && bucket.isFull(at: now) }

    /// Asks for a token.
    ///
    /// - Parameters:
    ///   - limit: the most who may wait; `nil` for no limit.
    ///   - longest: the longest it may wait; `nil` for no limit.
    ///   - waiter: made if it has to wait to lead.
    mutating func enter(
        at now: Duration,
        limit: Int?,
        longest: Duration?,
        _ waiter: @autoclosure () -> Waiter
    ) -> Step {
        let wait = bucket.wait(at: now, behind: waiting)
        if leader == nil, wait == .zero {
            bucket.take(at: now)
            return .go
        }
        if let limit, waiting >= limit { return .full(waiting: waiting) }
        if let longest, wait > longest { return .tooLong(wait: wait) }
        lastTicket += 1
        guard leader != nil else {
            leader = lastTicket
            return .lead(ticket: lastTicket)
        }
        let waiter = waiter()
        line.join(lastTicket, waiter)
        return .wait(ticket: lastTicket, waiter)
    }

    /// Asks, as the leader, whether its token is there.
    mutating func lead(_ ticket: Int, at now: Duration) -> Lead {
        let wait = bucket.wait(at: now)
        guard wait == .zero else { return .sleep(until: now + wait) }
        bucket.take(at: now)
        return .go(next: passOn(from: ticket))
    }

    /// Gives up leading, without a token.
    ///
    /// - Returns: the next leader, who is to be told.
    mutating func resign(_ ticket: Int) -> Waiter? { passOn(from: ticket) }

    /// Gives up waiting in line.
    ///
    /// - Returns: the waiter, which is to be told; `nil` if it leads already, or has gone.
    mutating func leave(_ ticket: Int) -> Waiter? { line.remove(ticket) }

    /// Takes a token without waiting, even one that is not there yet: all others then wait longer.
    mutating func overtake(at now: Duration) { bucket.take(at: now) }

    private mutating func passOn(from ticket: Int) -> Waiter? {
        guard ticket == leader else { return nil }
        let next = line.removeFirst()
        leader = next?.ticket
        return next?.waiter
    }
}
