/// Waiters in order of arrival. Any waiter can leave, even from the middle, and no operation searches for it.
package struct WaitingLine<Waiter> {
    // Tickets in order of arrival, including those of waiters that left. The ticket at `head`, if any, is always a waiter's.
    private var order: [Int] = []
    private var head = 0
    private var waiters: [Int: Waiter] = [:]

    /// Creates an empty line.
    package init() {}

    /// The number of waiters.
    package var count: Int { waiters.count }

    /// Whether there are no waiters.
    package var isEmpty: Bool { waiters.isEmpty }

    /// The ticket of the waiter that arrived first.
    package var first: Int? { head < order.count ? order[head] : nil }

    /// Adds a waiter at the end of the line. The caller never uses a ticket twice.
    package mutating func join(_ ticket: Int, _ waiter: Waiter) {
        order.append(ticket)
        waiters[ticket] = waiter
    }

    /// Removes and returns the waiter that arrived first.
    package mutating func removeFirst() -> (ticket: Int, waiter: Waiter)? {
        guard let first, let waiter = remove(first) else { return nil }
        return (first, waiter)
    }

    /// Removes and returns a waiter; `nil` if the waiter has left.
    package mutating func remove(_ ticket: Int) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: ticket) else { return nil }
        while head < order.count, waiters[order[head]] == nil { head += 1 }
        // Compacts the line, so that the tickets of waiters that left take no more space than the others, plus 32.
        if order.count > 2 * waiters.count + 32 {
            order = order[head...].filter { waiters[$0] != nil }
            head = 0
        }
        return waiter
    }
}

extension WaitingLine: Sendable where Waiter: Sendable {}
