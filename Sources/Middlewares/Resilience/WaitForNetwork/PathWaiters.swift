internal import InterceptorsCore

/// The current path and the requests that wait for a better one, as a value without side effects.
///
/// Call its mutating methods under a lock, and resume the returned waiters outside the lock.
struct PathWaiters<Waiter: Sendable>: Sendable {
    private(set) var path: NetworkPath
    /// Whether the first report is due. Until it comes, every request waits.
    private(set) var isStarting: Bool
    private var waiters: [Int: (waiter: Waiter, requirements: NetworkRequirements)] = [:]
    private var lastTicket = 0

    init(_ path: NetworkPath, isStarting: Bool = false) {
        self.path = path
        self.isStarting = isStarting
    }

    /// Whether a request with these requirements has nothing to wait for.
    func allows(_ requirements: NetworkRequirements) -> Bool { !isStarting && path.allows(requirements) }

    /// The number of waiters.
    var count: Int { waiters.count }

    /// Adds a waiter, unless the path already allows the request.
    ///
    /// - Parameters:
    ///   - requirements: the kinds of network that the request must not use.
    ///   - waiter: resumed when the path allows the request.
    /// - Returns: the ticket with which the waiter leaves; `nil` if there is nothing to wait for.
    mutating func join(_ requirements: NetworkRequirements, _ waiter: Waiter) -> Int? {
        guard !allows(requirements) else { return nil }
        lastTicket += 1
        waiters[lastTicket] = (waiter, requirements)
        return lastTicket
    }

    /// Removes and returns a waiter; `nil` if the waiter has left.
    mutating func leave(_ ticket: Int) -> Waiter? { waiters.removeValue(forKey: ticket)?.waiter }

    /// Changes the path. Removes and returns the waiters that it allows, in the order of their arrival.
    mutating func update(_ path: NetworkPath) -> [Waiter] {
        self.path = path
        isStarting = false
        let allowed = waiters.filter { path.allows($0.value.requirements) }
        for ticket in allowed.keys { waiters[ticket] = nil }
        return allowed.sorted { $0.key < $1.key }.map(\.value.waiter)
    }
}
