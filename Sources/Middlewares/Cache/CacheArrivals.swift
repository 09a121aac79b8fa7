internal import InterceptorsCore
internal import Synchronization

// The responses of each key are numbered. `CacheCommit` describes the protocol that this is a part of. A ticket counts in its
// key's state until it is released; the last ticket of a key frees the state. The lock of the table guards the counts and which
// keys have a state; each state has a lock for the rest, and is found once per request.
/// The order in which responses arrive for a store: of several for the same variant, the last to arrive stays stored.
///
/// A store has one (``CacheStore/arrivals``), so that all caches over the store know the order. Stores over the same content share
/// one.
public final class CacheArrivals: Sendable {
    private struct State {
        /// Changes with each invalidation by this cache.
        var generation = 0
        /// How many responses have arrived.
        var arrivals = 0
        var claims = Claims()
    }

    private struct Claims {
        /// The arrival number that claims each variant; at most ``CacheKey/variantLimit``. While a body of the key is unread, a
        /// claim for each variant would add up. Each dropped claim keeps out earlier responses that could have been stored.
        private var all: [(variant: HTTPFields, arrival: Int)] = []
        /// The last arrival number whose claim was dropped for the limit. It claims every variant that isn't listed, because
        /// any of them may be the dropped one.
        private var dropped = 0

        subscript(variant: HTTPFields) -> Int {
            get { all.first { $0.variant == variant }?.arrival ?? dropped }
            set {
                all.removeAll { $0.variant == variant }
                all.append((variant, newValue))
                guard all.count > CacheKey.variantLimit,
                    let oldest = all.indices.min(by: { all[$0].arrival < all[$1].arrival })
                else { return }
                dropped = max(dropped, all.remove(at: oldest).arrival)
            }
        }
    }

    private final class SharedState: Sendable {
        let state = Mutex(State())
    }

    /// The state of a key, and the number of its tickets.
    private struct Held {
        let state = SharedState()
        var tickets = 0

        mutating func addTicket() -> SharedState {
            tickets += 1
            return state
        }

        /// Returns whether it was the last ticket.
        mutating func removeTicket() -> Bool {
            tickets -= 1
            return tickets == 0
        }
    }

    private let states = Mutex<[CacheKey: Held]>([:])
    /// The removals that the store has failed to carry out.
    let debts = CacheDebts()

    /// Creates the order of a store without responses in progress.
    public init() {}

    /// A request in progress. It ends when its last reference is released.
    final class Ticket: Sendable {
        let key: CacheKey
        private let arrivals: CacheArrivals
        private let shared: SharedState
        private let generation: Int
        private let arrival = Atomic(0)

        fileprivate init(_ key: CacheKey, _ arrivals: CacheArrivals) {
            self.key = key
            self.arrivals = arrivals
            shared = arrivals.addTicket(for: key)
            generation = shared.state.withLock { $0.generation }
        }

        /// Whether this cache hasn't invalidated the key since the ticket was issued.
        var isValid: Bool { shared.state.withLock { $0.generation == generation } }

        /// Takes the next arrival number, when the response's head has arrived.
        func arrive() {
            let number = shared.state.withLock { state in
                state.arrivals += 1
                return state.arrivals
            }
            arrival.store(number, ordering: .releasing)
        }

        /// Whether the response may be stored: the ticket is valid, and no response that arrived later has claimed the variant.
        /// Returning `true` claims the variant: from then on no earlier response may be stored.
        func mayStore(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.load(ordering: .acquiring)
            return shared.state.withLock { state in
                guard state.generation == generation, state.claims[variant] <= arrival else { return false }
                state.claims[variant] = arrival
                return true
            }
        }

        /// Whether the response still holds the claim to the variant, and the ticket is valid.
        func isLast(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.load(ordering: .acquiring)
            return shared.state.withLock { $0.generation == generation && $0.claims[variant] == arrival }
        }

        /// Notes that an older response couldn't be removed.
        func oweRemoval() { arrivals.debts.add(key) }

        deinit { arrivals.removeTicket(for: key) }
    }

    private func addTicket(for key: CacheKey) -> SharedState {
        states.withLock { $0[key, default: Held()].addTicket() }
    }

    private func removeTicket(for key: CacheKey) {
        states.withLock { states in
            guard let index = states.index(forKey: key) else { return }
            if states.values[index].removeTicket() { states.remove(at: index) }
        }
    }

    /// The number of keys with requests in progress.
    var count: Int { states.withLock { $0.count } }

    func issueTicket(for key: CacheKey) -> Ticket { Ticket(key, self) }

    /// Makes all tickets of a key invalid.
    func invalidate(_ key: CacheKey) {
        states.withLock { $0[key]?.state }?.state.withLock { $0.generation += 1 }
    }
}
