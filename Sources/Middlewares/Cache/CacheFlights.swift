internal import Interceptors
internal import Synchronization

/// Which keys have a request under way whose response may be stored: an invalidation reaches those too, and of several
/// responses the last to begin is the one that stays.
final class CacheFlights: Sendable {
    private struct Flights {
        var count = 0
        var generation = 0
        /// How many responses have begun.
        var arrivals = 0
        /// Which of them is stored, for each variant.
        var stored: [HTTPFields: Int] = [:]
    }

    private let flights = Mutex<[CacheKey: Flights]>([:])

    /// A request under way; it ends when nobody holds it any more.
    final class Flight: Sendable {
        private let owner: CacheFlights
        private let generation: Int
        private let arrival = Mutex(0)
        let key: CacheKey

        fileprivate init(owner: CacheFlights, key: CacheKey, generation: Int) {
            self.owner = owner
            self.key = key
            self.generation = generation
        }

        /// Whether nothing has made its response invalid since it began.
        var isValid: Bool { owner.flights.withLock { $0[key]?.generation == generation } }

        /// Notes that its response begins.
        func arrive() {
            let number = owner.flights.withLock { flights in
                flights[key]?.arrivals += 1
                return flights[key]?.arrivals ?? 0
            }
            arrival.withLock { $0 = number }
        }

        /// Whether its response, whose body has ended, is to be stored: unless it has become invalid, or one that began
        /// later is stored already.
        func mayStore(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.withLock { $0 }
            return owner.flights.withLock { flights in
                guard let other = flights[key], other.generation == generation,
                    other.stored[variant] ?? 0 <= arrival
                else { return false }
                flights[key]?.stored[variant] = arrival
                return true
            }
        }

        /// Whether what has been stored meanwhile is its response, and nothing has made it invalid.
        func isStill(_ variant: HTTPFields) -> Bool {
            let arrival = arrival.withLock { $0 }
            return owner.flights.withLock { $0[key]?.generation == generation && $0[key]?.stored[variant] == arrival }
        }

        deinit { owner.end(key) }
    }

    /// How many keys have a request under way.
    var count: Int { flights.withLock { $0.count } }

    func begin(_ key: CacheKey) -> Flight {
        let generation = flights.withLock { flights in
            flights[key, default: Flights()].count += 1
            return flights[key]?.generation ?? 0
        }
        return Flight(owner: self, key: key, generation: generation)
    }

    func invalidate(_ key: CacheKey) {
        flights.withLock { $0[key]?.generation += 1 }
    }

    private func end(_ key: CacheKey) {
        flights.withLock { flights in
            flights[key]?.count -= 1
            if flights[key]?.count == 0 { flights[key] = nil }
        }
    }
}
