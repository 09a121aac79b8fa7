internal import InterceptorsCore
internal import Synchronization

// The responses of each key are numbered. `CacheCommit` describes the protocol that this is a part of. A ticket counts in its
// key's state until it is released; the last ticket of a key frees the state.
/// The order in which responses arrive for a store: of several for the same variant, the last to arrive stays stored.
///
/// A store has one (``CacheStore/arrivals``), so that all caches over the store know the order. Stores over the same content share
/// one.
public final class CacheArrivals: Sendable {
    private struct State {
        var tickets = 0
        /// Changes with each invalidation by this cache.
        var generation = 0
        /// How many responses have arrived.
        var arrivals = 0
        /// The arrival number that claims each variant; at most ``CacheKey/variantLimit``. While a body of the key is unread, a
        /// claim for each variant would add up. Each dropped claim keeps out earlier responses that could have been stored.
        private var claims: [(variant: HTTPFields, arrival: Int)] = []
        /// The last arrival number whose claim was dropped for the limit. It claims every variant that isn't listed, because
        /// any of them may be the dropped one.
        private var dropped = 0

        func claim(of variant: HTTPFields) -> Int { claims.first { $0.variant == variant }?.arrival ?? dropped }

        mutating func claim(_ variant: HTTPFields, _ arrival: Int) {
            claims.removeAll { $0.variant == variant }
            claims.append((variant, arrival))
            guard claims.count > CacheKey.variantLimit,
                let oldest = claims.indices.min(by: { claims[$0].arrival < claims[$1].arrival })
            else { return }
            dropped = max(dropped, claims.remove(at: oldest).arrival)
        }
    }

    private let states = Mutex<[CacheKey: State]>([:])
    /// The removals that the store has failed to carry out. Until one succeeds, the entries of its key are misses: an unsafe
    /// request that has returned must never be followed by a hit of an earlier response.
    let debts = OwedRemovals<CacheKey>()
    /// The removals that ``DiskCacheStore`` has failed to carry out, by the shards of its directory.
    let diskDebts = OwedRemovals<DiskName>()
    /// The time of the last attempt to remove all entries, because all are owed.
    let lastClear = Mutex<Int64?>(nil)

    /// Creates the order of a store without responses in progress.
    public init() {}

    /// A request in progress. It ends when its last reference is released.
    final class Ticket: Sendable {
        let key: CacheKey
        private let arrivals: CacheArrivals
        private let generation: Int
        private let arrival = Atomic(0)

        fileprivate init(_ key: CacheKey, _ arrivals: CacheArrivals) {
            self.key = key
            self.arrivals = arrivals
            generation = arrivals.change(key) { state in
                state.tickets += 1
                return state.generation
            }
        }

        /// Whether this cache hasn't invalidated the key since the ticket was issued.
        var isValid: Bool { arrivals.change(key) { $0.generation == generation } }

        /// Takes the next arrival number, when the response's head has arrived.
        func arrive() {
            let number = arrivals.change(key) { state in
                state.arrivals += 1
                return state.arrivals
            }
            arrival.store(number, ordering: .releasing)
        }

        /// Whether the response may be stored: the ticket is valid, and no response that arrived later has claimed the variant.
        /// Returning `true` claims the variant: from then on no earlier response may be stored.
        func mayStore(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.load(ordering: .acquiring)
            return arrivals.change(key) { state in
                guard state.generation == generation, state.claim(of: variant) <= arrival else { return false }
                state.claim(variant, arrival)
                return true
            }
        }

        /// Whether the response still holds the claim to the variant, and the ticket is valid.
        func isLast(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.load(ordering: .acquiring)
            return arrivals.change(key) { $0.generation == generation && $0.claim(of: variant) == arrival }
        }

        /// Notes that an older response couldn't be removed.
        func oweRemoval() { arrivals.debts.insert(key) }

        deinit {
            arrivals.states.withLock { states in
                // Changing the state in place allocates three times.
                guard var state = states.removeValue(forKey: key) else { return }
                state.tickets -= 1
                if state.tickets > 0 { states[key] = state }
            }
        }
    }

    /// Changes the state of a key that has a ticket.
    private func change<Value: Sendable>(_ key: CacheKey, _ change: (inout State) -> Value) -> Value {
        states.withLock { change(&$0[key, default: State()]) }
    }

    /// The number of keys with requests in progress.
    var count: Int { states.withLock { $0.count } }

    func issueTicket(for key: CacheKey) -> Ticket { Ticket(key, self) }

    /// Makes all tickets of a key invalid.
    func invalidate(_ key: CacheKey) { states.withLock { $0[key]?.generation += 1 } }
}
