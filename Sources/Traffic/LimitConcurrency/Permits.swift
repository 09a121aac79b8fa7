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
        return .wait(ticket: lastTicket, waiter)
    }

    /// Releases a permit.
    ///
    /// - Returns: the waiter that now holds the permit, which the caller must resume; `nil` if no waiter can go.
    mutating func release(for scope: LimitScope) -> Waiter? {
        let wasTotalReached = !isBelow(limits.total, inUse)
        inUse -= 1
        scopes[scope]?.inUse -= 1
        // If the total wasn't reached, waiters only wait because of a per-host limit: this release can only help its own scope.
        let next = wasTotalReached && limits.perHost != nil ? longestWaiting : scope
        defer { forget(scope) }
        guard let next, isReady(scopes[next]), let first = scopes[next]?.line.removeFirst() else { return nil }
        scopes[next]?.inUse += 1
        inUse += 1
        waiting -= 1
        return first.waiter
    }

    /// Removes a waiter from its line.
    ///
    /// - Returns: the waiter, which the caller must resume; `nil` if the waiter already has a permit.
    mutating func leave(_ ticket: Int, for scope: LimitScope) -> Waiter? {
        guard let waiter = scopes[scope]?.line.remove(ticket) else { return nil }
        waiting -= 1
        forget(scope)
        return waiter
    }

    /// The host whose first waiter may go and has waited longest. Looks at each host with a permit or a waiter.
    private var longestWaiting: LimitScope? {
        scopes.lazy.filter { isReady($0.value) }.min { $0.value.line.first ?? .max < $1.value.line.first ?? .max }?.key
    }

    private func isReady(_ scope: Scope?) -> Bool {
        scope.map { !$0.line.isEmpty && isBelow(limits.perHost, $0.inUse) } ?? false
    }

    private mutating func forget(_ scope: LimitScope) {
        if let entry = scopes[scope], entry.inUse == 0, entry.line.isEmpty { scopes[scope] = nil }
    }

    private func isBelow(_ limit: Int?, _ count: Int) -> Bool { limit.map { count < $0 } ?? true }
}
