/// Those who wait, in the order in which they came. Anyone may leave, from the middle too; nothing here searches.
struct WaitingLine<Waiter> {
    // Tickets in the order of arrival, those of waiters that left among them; the one at `head` is always there.
    private var order: [Int] = []
    private var head = 0
    private var waiters: [Int: Waiter] = [:]

    /// How many wait.
    var count: Int { waiters.count }

    /// Whether nobody waits.
    var isEmpty: Bool { waiters.isEmpty }

    /// The ticket of the one who has waited longest.
    var first: Int? { head < order.count ? order[head] : nil }

    /// Goes to the end of the line. A ticket is never used twice.
    mutating func join(_ ticket: Int, _ waiter: Waiter) {
        order.append(ticket)
        waiters[ticket] = waiter
    }

    /// Takes out the one who has waited longest.
    mutating func removeFirst() -> (ticket: Int, waiter: Waiter)? {
        guard let first, let waiter = remove(first) else { return nil }
        return (first, waiter)
    }

    /// Takes one out; `nil` if it isn't there.
    mutating func remove(_ ticket: Int) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: ticket) else { return nil }
        while head < order.count, waiters[order[head]] == nil { head += 1 }
        // What those who left have left behind never outgrows those who stay by much.
        if order.count > 2 * waiters.count + 32 {
            order = order[head...].filter { waiters[$0] != nil }
            head = 0
        }
        return waiter
    }
}

extension WaitingLine: Sendable where Waiter: Sendable {}
