/// Measures the time since its start, by a clock of any type.
struct Stopwatch: Sendable {
    /// The time since the start.
    let elapsed: @Sendable () -> Duration
    /// Sleeps until this time after the start.
    let sleep: @Sendable (_ until: Duration) async throws -> Void
    /// Whether the clock is one of the system's, which run on while the process is suspended.
    let isTheSystems: Bool

    static func starting(_ clock: some Clock<Duration>) -> Stopwatch {
        let start = clock.now
        return Stopwatch(
            elapsed: { start.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) },
            isTheSystems: clock is ContinuousClock || clock is SuspendingClock
        )
    }

    func sleep(for duration: Duration) async throws { try await sleep(elapsed() + duration) }
}
