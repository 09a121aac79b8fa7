/// How many may go at a time, and who goes next: a value that decides, and does nothing.
///
/// What happens is told to it by its mutating methods, under a lock; what they return is done outside of the lock.
///
/// Those who wait go in the order in which they came, but for those of a host that is at its limit: they keep their place,
/// and whoever came after them for another host passes. At any time, nobody waits who could go.
struct Permits<Waiter: Sendable>: Sendable {
    /// The limits; `nil` for none.
    struct Limits: Sendable, Hashable {
        var total: Int?
        var perHost: Int?
        var waiting: Int?
    }

    /// What is to be done for one who asks.
    enum Step: Sendable {
        /// Go: it has a permit, and is to give it back.
        case go
        /// Wait: it is in line, where the ticket finds it.
        case wait(ticket: Int, Waiter)
        /// It can neither go nor wait: so many wait already.
        case full(waiting: Int)
    }

    private struct Scope: Sendable {
        var inUse = 0
        var line = WaitingLine<Waiter>()
    }

    let limits: Limits
    /// How many permits are in use.
    private(set) var inUse = 0
    /// How many wait.
    private(set) var waiting = 0
    // Only those with a permit in use or somebody who waits.
    private var scopes: [LimitScope: Scope] = [:]
    private var lastTicket = 0

    init(_ limits: Limits) { self.limits = limits }

    /// How many scopes it has to remember.
    var scopeCount: Int { scopes.count }

    /// Asks for a permit.
    ///
    /// - Parameters:
    ///   - scope: what the limit for each host counts the request to.
    ///   - waiter: made if it has to wait.
    mutating func take(for scope: LimitScope, _ waiter: @autoclosure () -> Waiter) -> Step {
        if isBelow(limits.total, inUse), isBelow(limits.perHost, scopes[scope]?.inUse ?? 0) {
            scopes[scope, default: Scope()].inUse += 1
            inUse += 1
            return .go
        }
        guard isBelow(limits.waiting, waiting) else { return .full(waiting: waiting) }
        lastTicket += 1
        waiting += 1
        let waiter = waiter()
        scopes[scope, default: Scope()].line.join(lastTicket, waiter)
        return .wait(ticket: lastTicket, waiter)
    }

    /// Gives a permit back.
    ///
    /// - Returns: whoever has it now, and is to be told.
    mutating func giveBack(for scope: LimitScope) -> Waiter? {
        let wasTotalReached = !isBelow(limits.total, inUse)
        inUse -= 1
        scopes[scope]?.inUse -= 1
        // Below the total, all that hosts wait for is a permit of their own.
        let next = wasTotalReached ? longestWaiting : isReady(scope) ? scope : nil
        defer { forget(scope) }
        guard let next, let first = scopes[next]?.line.removeFirst() else { return nil }
        scopes[next]?.inUse += 1
        inUse += 1
        waiting -= 1
        return first.waiter
    }

    /// Gives up waiting.
    ///
    /// - Returns: the waiter, which is to be told; `nil` if it has a permit already.
    mutating func leave(_ ticket: Int, for scope: LimitScope) -> Waiter? {
        guard let waiter = scopes[scope]?.line.remove(ticket) else { return nil }
        waiting -= 1
        forget(scope)
        return waiter
    }

    private var longestWaiting: LimitScope? {
        var oldest: (ticket: Int, scope: LimitScope)?
        for (scope, entry) in scopes {
            guard let ticket = entry.line.first, isBelow(limits.perHost, entry.inUse) else { continue }
            if oldest.map({ ticket < $0.ticket }) ?? true { oldest = (ticket, scope) }
        }
        return oldest?.scope
    }

    private func isReady(_ scope: LimitScope) -> Bool {
        scopes[scope].map { !$0.line.isEmpty && isBelow(limits.perHost, $0.inUse) } ?? false
    }

    private mutating func forget(_ scope: LimitScope) {
        if let entry = scopes[scope], entry.inUse == 0, entry.line.isEmpty { scopes[scope] = nil }
    }

    private func isBelow(_ limit: Int?, _ count: Int) -> Bool { limit.map { count < $0 } ?? true }
}
