/// The running exchanges and the waiters of each, as a value without side effects.
///
/// Call its mutating methods under a lock, and act on their results outside the lock.
///
/// An exchange runs while it has waiters. Requests can join it until it ends, its last waiter leaves, or it is closed. The
/// waiters of a closed exchange keep waiting for it.
///
/// - `Identity`: waiters with equal identities share an exchange.
package struct SharedExchanges<Identity: Hashable & Sendable, Waiter: Sendable, Work: Sendable>: Sendable {
    /// The key to find a waiter by.
    package struct Place: Sendable, Hashable {
        package let exchange: Int
        fileprivate let ticket: Int
        /// Whether this waiter must start the exchange.
        package let isFirst: Bool
        /// The number in a journal of the call that started the exchange.
        package let leader: Int?
    }

    private struct Exchange: Sendable {
        let identity: Identity
        let origin: Origin?
        let leader: Int?
        var work: Work?
        var waiters: [Int: Waiter] = [:]
    }

    private var exchanges: [Int: Exchange] = [:]
    private var open: [Identity: Int] = [:]
    private var lastNumber = 0
    private var waiting = 0

    /// Creates a value without exchanges.
    package init() {}

    /// The number of running exchanges, and of their waiters.
    package var counts: (exchanges: Int, waiters: Int) { (exchanges.count, waiting) }

    /// Joins an open exchange or adds a new one. If `isFirst` is true, the caller must start the work and call
    /// ``attach(_:to:)``.
    ///
    /// - Parameter callID: the number of the waiter's call in a journal.
    package mutating func join(
        _ identity: Identity,
        origin: Origin? = nil,
        _ waiter: Waiter,
        callID: Int? = nil
    ) -> Place {
        let number = open[identity] ?? begin(identity, origin, callID)
        let isFirst = exchanges[number]?.waiters.isEmpty ?? true
        let ticket = nextNumber()
        exchanges[number]?.waiters[ticket] = waiter
        waiting += 1
        return Place(exchange: number, ticket: ticket, isFirst: isFirst, leader: exchanges[number]?.leader)
    }

    /// Stores the work of an exchange, so that it can be cancelled.
    ///
    /// - Returns: `false` if the exchange has ended or has no waiters any more; the caller must then cancel the work.
    package mutating func attach(_ work: Work, to exchange: Int) -> Bool {
        exchanges[exchange]?.work = work
        return exchanges[exchange] != nil
    }

    /// The waiters of an exchange, in order of arrival.
    package func waiters(of exchange: Int) -> [Waiter] {
        (exchanges[exchange]?.waiters ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// Removes a waiter.
    ///
    /// - Returns: the waiter, which the caller must resume, or `nil` if it was resumed already; and, if it was the last one, the
    ///   abandoned work, which the caller must cancel.
    package mutating func leave(_ place: Place) -> (waiter: Waiter?, abandoned: Work?) {
        guard let waiter = exchanges[place.exchange]?.waiters.removeValue(forKey: place.ticket) else {
            return (nil, nil)
        }
        waiting -= 1
        guard let exchange = exchanges[place.exchange], exchange.waiters.isEmpty else { return (waiter, nil) }
        remove(place.exchange)
        return (waiter, exchange.work)
    }

    /// Removes an exchange that has ended.
    ///
    /// - Returns: the waiters to resume, in order of arrival; empty if all had left.
    package mutating func finish(_ exchange: Int) -> [Waiter] {
        let waiters = waiters(of: exchange)
        remove(exchange)
        return waiters
    }

    /// Lets no further request join the running exchanges with an origin.
    package mutating func close(_ origin: Origin) {
        for (number, exchange) in exchanges where exchange.origin == origin && open[exchange.identity] == number {
            open[exchange.identity] = nil
        }
    }

    /// Lets no further request join the running exchanges with one of these identities.
    package mutating func close(where isClosed: (Identity) -> Bool) { open = open.filter { !isClosed($0.key) } }

    /// Whether requests can still join an exchange.
    package func isOpen(_ exchange: Int) -> Bool {
        exchanges[exchange].map { open[$0.identity] == exchange } ?? false
    }

    private mutating func begin(_ identity: Identity, _ origin: Origin?, _ leader: Int?) -> Int {
        let number = nextNumber()
        exchanges[number] = Exchange(identity: identity, origin: origin, leader: leader)
        open[identity] = number
        return number
    }

    private mutating func remove(_ exchange: Int) {
        guard let removed = exchanges.removeValue(forKey: exchange) else { return }
        waiting -= removed.waiters.count
        if open[removed.identity] == exchange { open[removed.identity] = nil }
    }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
