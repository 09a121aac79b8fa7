/// Measures the time since its start, by a clock of any type.
///
/// The type of the clock's instants is known only in `starting(_:)`, so the closures capture the first instant without boxing an
/// instant at each reading.
package struct Stopwatch: Sendable {
    /// The time since the start.
    package let elapsed: @Sendable () -> Duration
    /// Sleeps until this time after the start.
    package let sleep: @Sendable (_ until: Duration) async throws -> Void
    /// Whether the clock is one of the system's, which run on while the process is suspended.
    package let isTheSystems: Bool

    /// About thirty years. Clock instants that lie further away can overflow.
    package static let farthest = Duration.seconds(1_000_000_000)

    package static func starting(_ clock: some Clock<Duration>) -> Stopwatch {
        let start = clock.now
        let sleep: @Sendable (Duration) async throws -> Void = {
            try await clock.sleep(until: start.advanced(by: min($0, farthest)), tolerance: nil)
        }
        let isTheSystems = clock is ContinuousClock || clock is SuspendingClock
        // Logs and caches read the time twice for each request, and a call on the concrete type takes a third of the time.
        // Another clock may have the same type of instants, and its own time.
        if clock is ContinuousClock, let start = start as? ContinuousClock.Instant {
            return Stopwatch(elapsed: { start.duration(to: .now) }, sleep: sleep, isTheSystems: isTheSystems)
        }
        return Stopwatch(elapsed: { start.duration(to: clock.now) }, sleep: sleep, isTheSystems: isTheSystems)
    }

    /// Runs an operation, and throws an error if it hasn't ended at a time after the start; `nil` for no limit.
    package func bounded<Value: Sendable>(
        by limit: Duration?,
        _ late: TransportError,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await operation() }
        return try await withThrowingTaskGroup(of: Value.self) { [sleep] group in
            group.addTask { try await operation() }
            group.addTask {
                try await sleep(limit)
                throw late
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }
}
