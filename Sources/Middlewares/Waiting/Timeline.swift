/// Measures time on any kind of clock, as the duration since the timeline's creation.
struct Timeline: Sendable {
    /// Returns the time since the timeline's creation.
    let now: @Sendable () -> Duration
    /// Sleeps until the given time since the timeline's creation.
    let sleep: @Sendable (_ until: Duration) async throws -> Void

    init(_ clock: any Clock<Duration>) { self = Self.begin(clock) }

    private init(
        now: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    private static func begin(_ clock: some Clock<Duration>) -> Timeline {
        let start = clock.now
        return Timeline(
            now: { start.duration(to: clock.now) },
            // Bounded, because later instants can overflow.
            sleep: { try await clock.sleep(until: start.advanced(by: min($0, Deadline.farthest)), tolerance: nil) }
        )
    }
}
