/// The time of a clock of any kind, told as the time since the timeline was begun.
struct Timeline: Sendable {
    /// The time since then.
    let now: @Sendable () -> Duration
    /// Sleeps until so much time has passed since then.
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
            // Instants that lie farther away can overflow.
            sleep: { try await clock.sleep(until: start.advanced(by: min($0, Deadline.farthest)), tolerance: nil) }
        )
    }
}
