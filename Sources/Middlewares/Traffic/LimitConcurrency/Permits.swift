/// Decides how many requests may run at a time, and which goes next, as a value without side effects.
///
/// Call its mutating methods under a lock, and act on their results outside the lock.
///
/// Waiters go in order of arrival, except that waiters for a host at its limit are passed by later ones for other hosts.
/// Invariant: no request waits that could go.
struct Permits<Waiter: Sendable>: Sendable {
    /// The configured limits; `nil` for no limit.
    struct Limits: Sendable, Hashable {
        var total: Int?
        var perHost: Int?
        var maxQueued: Int?
    }

    /// The next action of a request that asked for a permit.
    enum Step: Sendable {
        /// The request has a permit: send it, and release the permit afterwards.
        case go
        /// Wait until resumed with a permit. The ticket finds the waiter in its line.
        case wait(ticket: Int, Waiter)
        /// No permit is free, and the maximum number of requests is already waiting.
        case full(waiting: Int)
    }

    private struct Scope: Sendable {
        var inUse = 0
        var line = WaitingLine<Waiter>()
    }

    let limits: Limits
    /// The number of permits in use.
    private(set) var inUse = 0
    /// The number of waiters.
    private(set) var waiting = 0
    // Only scopes with a permit in use or a waiter.
    private var scopes: [LimitScope: Scope] = [:]
    private var lastTicket = 0
    // May contain stale entries: those of hosts whose first waiter has since gone or left. `holds(_:)` detects them.
    private(set) var ready = ReadyHosts()

    init(_ limits: Limits) { self.limits = limits }

    /// The number of scopes in memory.
    var scopeCount: Int { scopes.count }

    /// Acquires a permit or joins the line.
    ///
    /// - Parameters:
    ///   - scope: the scope whose limit applies to the request.
    ///   - waiter: created only if the request has to wait.
    mutating func acquire(for scope: LimitScope, _ waiter: @autoclosure () -> Waiter) -> Step {
        if isBelow(limits.total, inUse), isBelow(limits.perHost, scopes[scope]?.inUse ?? 0) {
            scopes[scope, default: Scope()].inUse += 1
            inUse += 1
            return .go
        }
        guard isBelow(limits.maxQueued, waiting) else { return .full(waiting: waiting) }
        lastTicket += 1
        waiting += 1
        let waiter = waiter()
        scopes[scope, default: Scope()].line.join(lastTicket, waiter)
        if scopes[scope]?.line.count == 1 { noteIfReady(scope) }
        return .wait(ticket: lastTicket, waiter)
    }

    /// Releases a permit.
    ///
    /// - Returns: the waiter that now holds the permit, which the caller must resume; `nil` if no waiter can go.
    mutating func release(for scope: LimitScope) -> Waiter? {
        let wasTotalReached = !isBelow(limits.total, inUse)
        inUse -= 1
        let wasHostReached = !isBelow(limits.perHost, scopes[scope]?.inUse ?? 0)
        scopes[scope]?.inUse -= 1
        if wasHostReached { noteIfReady(scope) }
        // If the total wasn't reached, waiters only wait because of a per-host limit: this release can only help its own scope.
        let next = wasTotalReached && sortsHosts ? takeLongestWaiting() : isReady(scope) ? scope : nil
        defer { forget(scope) }
        guard let next, let first = scopes[next]?.line.removeFirst() else { return nil }
        scopes[next]?.inUse += 1
        inUse += 1
        waiting -= 1
        noteIfReady(next)
        return first.waiter
    }

    /// Removes a waiter from its line.
    ///
    /// - Returns: the waiter, which the caller must resume; `nil` if the waiter already has a permit.
    mutating func leave(_ ticket: Int, for scope: LimitScope) -> Waiter? {
        let wasFirst = scopes[scope]?.line.first == ticket
        guard let waiter = scopes[scope]?.line.remove(ticket) else { return nil }
        waiting -= 1
        if wasFirst { noteIfReady(scope) }
        forget(scope)
        return waiter
    }

    /// Whether waiters of several hosts can compete for the total. Only then is `ready` in use.
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

    // Must be called whenever a host may have become ready, or its first waiter has changed.
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
