/// The exchanges in flight and who waits for each: a value that decides, and does nothing.
///
/// What happens is told to it by its mutating methods, under a lock; what they return is done outside of the lock.
///
/// An exchange goes on while anyone waits for it. It can be joined until it ends, its last waiter leaves, or it is closed;
/// those who wait for a closed one wait on.
struct SharedExchanges<Waiter: Sendable, Work: Sendable>: Sendable {
    /// Where a waiter is to be found.
    struct Place: Sendable, Hashable {
        let exchange: Int
        fileprivate let ticket: Int
        /// Whether the exchange is begun for it.
        let isFirst: Bool
    }

    private struct Exchange: Sendable {
        let identity: ExchangeIdentity
        let origin: Origin?
        var work: Work?
        var waiters: [Int: Waiter] = [:]
    }

    private var exchanges: [Int: Exchange] = [:]
    private var open: [ExchangeIdentity: Int] = [:]
    private var lastNumber = 0
    private var waiting = 0

    /// How many exchanges are in flight, and how many wait for them.
    var counts: (exchanges: Int, waiters: Int) { (exchanges.count, waiting) }

    /// Joins an exchange, or begins one: then it is to be begun, and ``attach(_:to:)`` called.
    mutating func join(_ identity: ExchangeIdentity, origin: Origin?, _ waiter: Waiter) -> Place {
        let number = open[identity] ?? begin(identity, origin)
        let isFirst = exchanges[number]?.waiters.isEmpty ?? true
        let ticket = nextNumber()
        exchanges[number]?.waiters[ticket] = waiter
        waiting += 1
        return Place(exchange: number, ticket: ticket, isFirst: isFirst)
    }

    /// Says what does the work of an exchange.
    ///
    /// - Returns: `false` if nobody waits for it any more: the work is to be cancelled.
    mutating func attach(_ work: Work, to exchange: Int) -> Bool {
        exchanges[exchange]?.work = work
        return exchanges[exchange] != nil
    }

    /// The waiters of an exchange, in the order in which they came.
    func waiters(of exchange: Int) -> [Waiter] {
        (exchanges[exchange]?.waiters ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// Gives up waiting.
    ///
    /// - Returns: the waiter, which is to be told, unless it was told already; and the work that nobody waits for any more,
    ///   which is to be cancelled.
    mutating func leave(_ place: Place) -> (waiter: Waiter?, abandoned: Work?) {
        guard let waiter = exchanges[place.exchange]?.waiters.removeValue(forKey: place.ticket) else {
            return (nil, nil)
        }
        waiting -= 1
        guard let exchange = exchanges[place.exchange], exchange.waiters.isEmpty else { return (waiter, nil) }
        remove(place.exchange)
        return (waiter, exchange.work)
    }

    /// Ends an exchange.
    ///
    /// - Returns: those who are to be told, in the order in which they came; nobody if the last one had left.
    mutating func finish(_ exchange: Int) -> [Waiter] {
        let waiters = waiters(of: exchange)
        remove(exchange)
        return waiters
    }

    /// Lets nobody more join what is in flight to an origin.
    mutating func close(_ origin: Origin) {
        for (number, exchange) in exchanges where exchange.origin == origin && open[exchange.identity] == number {
            open[exchange.identity] = nil
        }
    }

    private mutating func begin(_ identity: ExchangeIdentity, _ origin: Origin?) -> Int {
        let number = nextNumber()
        exchanges[number] = Exchange(identity: identity, origin: origin)
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
