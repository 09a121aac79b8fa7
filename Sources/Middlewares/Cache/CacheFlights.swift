internal import Interceptors
internal import Synchronization

/// Which keys have a request under way whose response may be stored: an invalidation reaches those too, and of several
/// responses the last to begin is the one that stays.
final class CacheFlights: Sendable {
    /// What the requests of one key share while one of them is under way.
    private struct Shared {
        var key: CacheKey?
        var count = 0
        var generation = 0
        /// How many responses have begun.
        var arrivals = 0
        /// Which of them is stored, for each variant. Most keys have one, which needs neither a hash nor a dictionary.
        var first: (variant: HTTPFields, arrival: Int)?
        var others: [HTTPFields: Int] = [:]

        func stored(_ variant: HTTPFields) -> Int? {
            if let first, first.variant == variant { return first.arrival }
            return others.isEmpty ? nil : others[variant]
        }

        /// Whether that response is to be stored, which is noted.
        mutating func mayStore(_ variant: HTTPFields, _ arrival: Int, of generation: Int) -> Bool {
            guard self.generation == generation, stored(variant) ?? 0 <= arrival else { return false }
            store(variant, arrival)
            return true
        }

        private mutating func store(_ variant: HTTPFields, _ arrival: Int) {
            if first == nil || first?.variant == variant {
                first = (variant, arrival)
            } else {
                others[variant] = arrival
            }
        }
    }

    private struct State {
        /// Where the share of a key is: a flight asks for it several times, and looks for it once.
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

    /// A request under way; it ends when nobody holds it any more.
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

        /// Whether nothing has made its response invalid since it began.
        var isValid: Bool { owner.state.withLock { $0.shares[place].generation == generation } }

        /// Notes that its response begins.
        func arrive() {
            arrival.store(owner.state.withLock { $0.arrive(at: place) }, ordering: .releasing)
        }

        /// Whether its response, whose body has ended, is to be stored: unless it has become invalid, or one that began
        /// later is stored already. From then on no earlier one is.
        func mayStore(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.load(ordering: .acquiring)
            return owner.state.withLock { $0.shares[place].mayStore(variant, arrival, of: generation) }
        }

        /// Whether its response is the last of the variant that may be stored, and nothing has made it invalid.
        func isLast(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.load(ordering: .acquiring)
            return owner.state.withLock { state in
                state.shares[place].generation == generation && state.shares[place].stored(variant) == arrival
            }
        }

        deinit { owner.state.withLock { $0.end(at: place) } }
    }

    /// How many keys have a request under way.
    var count: Int { state.withLock { $0.count } }

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
