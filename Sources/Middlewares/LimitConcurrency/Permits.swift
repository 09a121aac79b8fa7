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
    // Not all that it says holds: a host whose first in line has gone, or left, is still in it.
    private(set) var ready = ReadyHosts()

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
        if scopes[scope]?.line.count == 1 { noteIfReady(scope) }
        return .wait(ticket: lastTicket, waiter)
    }

    /// Gives a permit back.
    ///
    /// - Returns: whoever has it now, and is to be told.
    mutating func giveBack(for scope: LimitScope) -> Waiter? {
        let wasTotalReached = !isBelow(limits.total, inUse)
        inUse -= 1
        let wasHostReached = !isBelow(limits.perHost, scopes[scope]?.inUse ?? 0)
        scopes[scope]?.inUse -= 1
        if wasHostReached { noteIfReady(scope) }
        // Below the total, all that hosts wait for is a permit of their own.
        let next = wasTotalReached && sortsHosts ? takeLongestWaiting() : isReady(scope) ? scope : nil
        defer { forget(scope) }
        guard let next, let first = scopes[next]?.line.removeFirst() else { return nil }
        scopes[next]?.inUse += 1
        inUse += 1
        waiting -= 1
        noteIfReady(next)
        return first.waiter
    }

    /// Gives up waiting.
    ///
    /// - Returns: the waiter, which is to be told; `nil` if it has a permit already.
    mutating func leave(_ ticket: Int, for scope: LimitScope) -> Waiter? {
        let wasFirst = scopes[scope]?.line.first == ticket
        guard let waiter = scopes[scope]?.line.remove(ticket) else { return nil }
        waiting -= 1
        if wasFirst { noteIfReady(scope) }
        forget(scope)
        return waiter
    }

    /// Whether there can be several hosts that wait for a permit of all.
    private var sortsHosts: Bool { limits.total != nil && limits.perHost != nil }

    private mutating func takeLongestWaiting() -> LimitScope? {
        while let entry = ready.first {
            ready.dropFirst()
            if holds(entry) { return entry.scope }
        }
        return nil
    }

    private func holds(_ entry: ReadyHosts.Entry) -> Bool {
        isReady(entry.scope) && scopes[entry.scope]?.line.first == entry.ticket
    }

    // To be called whenever a host may have become ready, or has another first in its line.
    private mutating func noteIfReady(_ scope: LimitScope) {
        guard sortsHosts, isReady(scope), let ticket = scopes[scope]?.line.first else { return }
        ready.insert(ticket, scope)
        if ready.count > 2 * scopes.count + 32 {
            let all = self
            ready.filter { all.holds($0) }
        }
    }

    private func isReady(_ scope: LimitScope) -> Bool {
        scopes[scope].map { !$0.line.isEmpty && isBelow(limits.perHost, $0.inUse) } ?? false
    }

    private mutating func forget(_ scope: LimitScope) {
        if let entry = scopes[scope], entry.inUse == 0, entry.line.isEmpty { scopes[scope] = nil }
    }

    private func isBelow(_ limit: Int?, _ count: Int) -> Bool { limit.map { count < $0 } ?? true }
}
