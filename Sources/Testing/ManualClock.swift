public import Foundation

/// A clock whose time moves only when a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// async let response = client.send(request)      // a retry in the chain sleeps for 2 s on this clock
/// await clock.sleepers(1)                        // waits until the retry sleeps
/// clock.advance(by: .seconds(2))
/// ```
/// ``run(sleepers:failingWhenStuck:fileID:line:_:)`` does the last two steps by itself, as often as needed:
///
/// ```swift
/// let user: User = try await clock.run { try await client.get("/users/42") }
/// ```
/// Pass the clock on as a ``InterceptorsTransport/TimeSource``: `.retry(time: .manual(clock))`.
public final class ManualClock: Clock, Sendable {
    /// A point in time of a ``ManualClock``.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock was created.
        public let elapsed: Swift.Duration
        /// Creates a point in time.
        public init(elapsed: Swift.Duration = .zero) { self.elapsed = elapsed }
        /// The point in time a duration later.
        public func advanced(by duration: Duration) -> Self { Self(elapsed: elapsed + duration) }
        /// The duration until another point in time.
        public func duration(to other: Self) -> Duration { other.elapsed - elapsed }
        /// Whether one point is earlier than the other.
        public static func < (left: Self, right: Self) -> Bool { left.elapsed < right.elapsed }
        /// The time since the clock was created.
        public var description: String { "\(elapsed)" }
    }

    struct Sleeper: Sendable {
        let deadline: Instant
        let order: Int
        /// Gets whether the deadline was reached.
        let waiter = Waiter<Bool>()
    }

    /// The clock's state. A waiter is resumed outside the lock by the call that removes its sleeper.
    struct State: Sendable {
        var now = Instant()
        var lastOrder = 0
        var sleepers: [Int: Sleeper] = [:]
        /// The jobs of all runs that are enqueued or running, and their work on other threads.
        var jobs = 0

        /// The earliest deadline, if anybody sleeps.
        var next: Instant? { sleepers.values.map(\.deadline).min() }
        /// Whether every task of a `run` of this clock waits or has ended. The value is exact, because resuming a task enqueues
        /// a job.
        var isIdle: Bool { jobs == 0 }

        /// Removes and returns the due sleepers, earliest deadline first. Among equal deadlines, the first to sleep comes
        /// first.
        mutating func takeDueSleepers() -> [Sleeper] {
            let due = sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { sleepers[id] = nil }
            return due.values.sorted { ($0.deadline, $0.order) < ($1.deadline, $1.order) }
        }
    }

    let state = Watched(State())

    /// Creates a clock at time zero.
    public init() {}

    /// The clock's current time.
    public var now: Instant { state.read(\.now) }

    /// The smallest difference between two instants: 1 ns.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks now sleeping on this clock.
    public var pendingSleeps: Int { state.read(\.sleepers.count) }

    /// The deadline of the next sleeper, or `nil` if nobody sleeps.
    public var nextDeadline: Instant? { state.read(\.next) }

    /// The deadlines of all sleepers, earliest first.
    public var deadlines: [Instant] { state.read { $0.sleepers.values.map(\.deadline).sorted() } }

    /// Sleeps until the clock has been advanced to the deadline.
    ///
    /// - Throws: `CancellationError`, immediately when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let sleeper: Sleeper? = state.change { state in
            guard deadline > state.now else { return nil }
            state.lastOrder += 1
            let sleeper = Sleeper(deadline: deadline, order: state.lastOrder)
            state.sleepers[sleeper.order] = sleeper
            return sleeper
        }
        guard let sleeper else { return }
        let isReached = await sleeper.waiter.outcome { [self] _ in
            state.change {
                $0.sleepers.removeValue(forKey: sleeper.order)
            } then: { sleeper in
                sleeper?.waiter.resume(with: false)
            }
        }
        if !isReached { throw CancellationError() }
    }

    /// Moves the time forward and wakes the sleepers whose deadlines it reaches, in the order of their deadlines.
    ///
    /// All woken tasks see the new time, even if their deadline was much earlier, so a task that sleeps again starts from
    /// there. ``run(sleepers:failingWhenStuck:fileID:line:_:)`` steps through several consecutive sleeps.
    public func advance(by duration: Duration) {
        // A single locked step, so that concurrent calls add up.
        advance { $0.advanced(by: duration) }
    }

    /// Moves the time forward to a point and wakes the sleepers whose deadlines it reaches. A point in the past changes
    /// nothing.
    public func advance(to instant: Instant) { advance { _ in instant } }

    private func advance(to target: (Instant) -> Instant) {
        state.change { state in
            state.now = max(state.now, target(state.now))
            return state.takeDueSleepers()
        } then: { sleepers in
            for sleeper in sleepers { sleeper.waiter.resume(with: true) }
        }
    }

    /// Waits until at least this many tasks sleep on this clock, or until the waiting task is cancelled.
    public func sleepers(_ count: Int) async { await state.first { $0.sleepers.count >= count ? true : nil } }

    /// Waits until no task sleeps on this clock, or until the waiting task is cancelled.
    public func noSleepers() async { await state.first { $0.sleepers.isEmpty ? true : nil } }
}

extension TimeSource {
    /// A time that a test controls: a manual clock, a wall clock that moves with the clock, and repeatable random numbers.
    ///
    /// ```swift
    /// let clock = ManualClock()
    /// let chain = InterceptorChain([.retry(time: .manual(clock))], transport: stub)
    /// ```
    /// - Parameters:
    ///   - clock: measures durations and waits, and moves the wall clock.
    ///   - start: the wall clock's time when `clock` is at zero; by default 1 January 2026, 00:00 UTC.
    ///   - seed: the seed of the random numbers (`RandomSource.seeded(_:)`); each call starts their sequence again.
    public static func manual(
        _ clock: ManualClock,
        startingAt start: Date = Date(timeIntervalSince1970: 1_767_225_600),
        seed: UInt64 = 0
    ) -> TimeSource {
        TimeSource(
            clock: clock,
            now: { start.addingTimeInterval(clock.now.elapsed / .seconds(1)) },
            random: .seeded(seed)
        )
    }
}
