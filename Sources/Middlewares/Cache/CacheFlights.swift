internal import Interceptors
internal import Synchronization

/// Which keys have a request under way whose response may be stored: an invalidation reaches those too, and of several
/// responses the last to begin is the one that stays.
final class CacheFlights: Sendable {
    /// What the requests of one key share while one of them is under way.
    private struct Shared {
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

        mutating func store(_ variant: HTTPFields, _ arrival: Int) {
            if first == nil || first?.variant == variant {
                first = (variant, arrival)
            } else {
                others[variant] = arrival
            }
        }
    }

    private struct State {
        /// Where the share of a key is: a flight asks for it several times, and hashes its key once.
        var places: [CacheKey: Int] = [:]
        var shares: [Shared] = []
        var free: [Int] = []

        mutating func begin(_ key: CacheKey) -> (place: Int, generation: Int) {
            let unused = free.last ?? shares.count
            let place = Self.value(&places[key, default: unused])
            if place == unused {
                if free.popLast() == nil { shares.append(Shared()) } else { shares[place] = Shared() }
            }
            shares[place].count += 1
            return (place, shares[place].generation)
        }

        mutating func end(_ key: CacheKey, at place: Int) {
            shares[place].count -= 1
            guard shares[place].count == 0 else { return }
            shares[place] = Shared()
            free.append(place)
            places[key] = nil
        }

        private static func value(_ place: inout Int) -> Int { place }
    }

    private let state = Mutex(State())

    /// A request under way; it ends when nobody holds it any more.
    final class Flight: Sendable {
        private let owner: CacheFlights
        private let place: Int
        private let generation: Int
        private let arrival = Mutex(0)
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
            let number = owner.state.withLock { state in
                state.shares[place].arrivals += 1
                return state.shares[place].arrivals
            }
            arrival.withLock { $0 = number }
        }

        /// Whether its response, whose body has ended, is to be stored: unless it has become invalid, or one that began
        /// later is stored already.
        func mayStore(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.withLock { $0 }
            return owner.state.withLock { state in
                guard state.shares[place].generation == generation,
                    state.shares[place].stored(variant) ?? 0 <= arrival
                else { return false }
                state.shares[place].store(variant, arrival)
                return true
            }
        }

        /// Whether what has been stored meanwhile is its response, and nothing has made it invalid.
        func isStill(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.withLock { $0 }
            return owner.state.withLock { state in
                state.shares[place].generation == generation && state.shares[place].stored(variant) == arrival
            }
        }

        deinit { owner.state.withLock { $0.end(key, at: place) } }
    }

    /// How many keys have a request under way.
    var count: Int { state.withLock { $0.places.count } }

    func begin(_ key: CacheKey) -> Flight {
        let (place, generation) = state.withLock { $0.begin(key) }
        return Flight(owner: self, key: key, place: place, generation: generation)
    }

    func invalidate(_ key: CacheKey) {
        state.withLock { state in
            if let place = state.places[key] { state.shares[place].generation += 1 }
        }
    }
}
