internal import Interceptors
internal import Synchronization

/// The requests in progress whose responses may be stored, by key.
///
/// A commit asks here whether its response may still be stored. An invalidation by this cache makes all flights of the key
/// invalid. Of several responses for the same variant, the last to arrive is the one that stays stored.
///
/// ```
/// begin ──▶ arrive ──▶ mayStore ──▶ commit
///           (takes a   (claims the variant, unless a later
///            number)    number has it or the key was invalidated)
/// ```
/// One lock guards all state. A flight holds a count in its key's slot until it is released; the last flight of a key frees
/// the slot. The generation here covers only this cache; the store's generation covers other caches and processes too.
final class CacheFlights: Sendable {
    /// The maximum claims of a key. A response with more variants varies by values that never repeat; while a body of the key is
    /// unread, a claim for each would add up. Each dropped claim keeps out earlier responses that could have been stored.
    static let claimLimit = 16

    /// The state that all flights of a key share.
    private struct Shared {
        var key: CacheKey?
        var count = 0
        var generation = 0
        /// How many responses have arrived for the key.
        var arrivals = 0
        /// The arrival number that claims each variant; at most ``claimLimit``.
        var claims: [(variant: HTTPFields, arrival: Int)] = []
        /// The last arrival number whose claim was dropped for the limit. It claims every variant that isn't listed, because
        /// any of them may be the dropped one.
        var dropped = 0

        func claim(_ variant: HTTPFields) -> Int { claims.first { $0.variant == variant }?.arrival ?? dropped }

        /// Claims a variant for a response. Returns `false` after an invalidation, or if a later response has claimed it.
        mutating func mayStore(_ variant: HTTPFields, _ arrival: Int, of generation: Int) -> Bool {
            guard self.generation == generation, claim(variant) <= arrival else { return false }
            claims.removeAll { $0.variant == variant }
            claims.append((variant, arrival))
            guard claims.count > CacheFlights.claimLimit else { return true }
            if let oldest = claims.indices.min(by: { claims[$0].arrival < claims[$1].arrival }) {
                dropped = max(dropped, claims.remove(at: oldest).arrival)
            }
            return true
        }
    }

    private struct State {
        /// Finds the slot of a key. A flight looks its slot up once, and then uses it several times.
        var index = PlaceIndex()
        var shares: [Shared] = []
        var free: [Int] = []
        var count = 0

        func place(of key: CacheKey) -> Int? { index.place(key.hash) { shares[$0].key == key } }

        mutating func begin(_ key: CacheKey) -> (place: Int, generation: Int) {
            if let place = place(of: key) {
                shares[place].count += 1
                return (place, shares[place].generation)
            }
            let place = free.popLast() ?? shares.count
            if place == shares.count { shares.append(Shared()) }
            shares[place].key = key
            shares[place].count = 1
            index.insert(place, key.hash)
            count += 1
            return (place, 0)
        }

        mutating func end(at place: Int) {
            shares[place].count -= 1
            guard shares[place].count == 0 else { return }
            index.remove(place)
            shares[place] = Shared()
            free.append(place)
            count -= 1
        }

        mutating func arrive(at place: Int) -> Int {
            shares[place].arrivals += 1
            return shares[place].arrivals
        }
    }

    private let state = Mutex(State())

    /// A request in progress. It ends when its last reference is released.
    final class Flight: Sendable {
        private let owner: CacheFlights
        private let place: Int
        private let generation: Int
        private let arrival = Atomic(0)
        let key: CacheKey

        fileprivate init(owner: CacheFlights, key: CacheKey, place: Int, generation: Int) {
            self.owner = owner
            self.key = key
            self.place = place
            self.generation = generation
        }

        /// Whether the key wasn't invalidated since the flight began.
        var isValid: Bool { owner.state.withLock { $0.shares[place].generation == generation } }

        /// Takes the next arrival number, when the response's head has arrived.
        func arrive() {
            arrival.store(owner.state.withLock { $0.arrive(at: place) }, ordering: .releasing)
        }

        /// Whether the response may be stored: the key wasn't invalidated, and no response that arrived later has claimed the
        /// variant. Returning `true` claims the variant: from then on no earlier response may be stored.
        func mayStore(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.load(ordering: .acquiring)
            return owner.state.withLock { $0.shares[place].mayStore(variant, arrival, of: generation) }
        }

        /// Whether the response still holds the claim to the variant, and the key wasn't invalidated.
        func isLast(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.load(ordering: .acquiring)
            return owner.state.withLock { state in
                state.shares[place].generation == generation && state.shares[place].claim(variant) == arrival
            }
        }

        deinit { owner.state.withLock { $0.end(at: place) } }
    }

    /// The number of keys with requests in progress.
    var count: Int { state.withLock { $0.count } }

    /// The number of variants with claims.
    var claimCount: Int { state.withLock { $0.shares.reduce(0) { $0 + $1.claims.count } } }

    func begin(_ key: CacheKey) -> Flight {
        let (place, generation) = state.withLock { $0.begin(key) }
        return Flight(owner: self, key: key, place: place, generation: generation)
    }

    func invalidate(_ key: CacheKey) {
        state.withLock { state in
            if let place = state.place(of: key) { state.shares[place].generation += 1 }
        }
    }
}
