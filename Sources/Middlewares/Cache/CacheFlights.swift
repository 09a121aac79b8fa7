internal import Synchronization

/// Which keys have a request under way whose response may be stored, so that an invalidation reaches those too.
final class CacheFlights: Sendable {
    private struct Flights {
        var count = 0
        var generation = 0
    }

    private let flights = Mutex<[CacheKey: Flights]>([:])

    /// A request under way; it ends when nobody holds it any more.
    final class Flight: Sendable {
        private let owner: CacheFlights
        private let generation: Int
        let key: CacheKey

        fileprivate init(owner: CacheFlights, key: CacheKey, generation: Int) {
            self.owner = owner
            self.key = key
            self.generation = generation
        }

        /// Whether nothing has made its response invalid since it began.
        var isValid: Bool { owner.flights.withLock { $0[key]?.generation == generation } }

        deinit { owner.end(key) }
    }

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
