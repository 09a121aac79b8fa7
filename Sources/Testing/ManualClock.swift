public import Foundation
public import InterceptorsCore
internal import InterceptorsMiddlewares
internal import Synchronization

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

    private struct Sleeper {
        let deadline: Instant
        let order: Int
        /// Gets whether the deadline was reached.
        let waiter = Waiter<Bool>()
    }

    /// The clock's situation at one moment.
    struct Situation {
        /// The number of sleepers.
        let sleeping: Int
        /// The earliest deadline, if anybody sleeps.
        let next: Instant?
        /// Whether every task of a `run` of this clock waits or has ended. The value is exact, because resuming a task enqueues
        /// a job.
        let isIdle: Bool
    }

    private struct Watcher {
        let isDone: @Sendable (Situation) -> Bool
        let waiter = Waiter<Situation>()
    }

    /// Watchers whose condition holds, to be resumed outside the lock.
    private struct ResumedWatchers {
        let watchers: [Watcher]
        let situation: Situation

        func resume() { for watcher in watchers { watcher.waiter.resume(with: situation) } }
    }

    /// The clock's mutable state. A waiter is resumed outside the lock by the call that removes its sleeper or watcher.
    private struct State {
        var now = Instant()
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Int: Watcher] = [:]
        /// The jobs of all runs that are enqueued or running, and their work on other threads.
        var jobs = 0

        var situation: Situation {
            Situation(sleeping: sleepers.count, next: sleepers.values.map(\.deadline).min(), isIdle: jobs == 0)
        }

        mutating func nextID() -> Int {
            lastID += 1
            return lastID
        }

        mutating func takeDueWatchers() -> ResumedWatchers? {
            guard !watchers.isEmpty else { return nil }
            let situation = situation
            let due = watchers.filter { $0.value.isDone(situation) }
            for id in due.keys { watchers[id] = nil }
            return ResumedWatchers(watchers: Array(due.values), situation: situation)
        }

        /// Removes and returns the due sleepers, earliest deadline first. Among equal deadlines, the first to sleep comes
        /// first.
        mutating func takeDueSleepers() -> [Sleeper] {
            let due = sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { sleepers[id] = nil }
            return due.values.sorted { ($0.deadline, $0.order) < ($1.deadline, $1.order) }
        }
    }

    private let state = Mutex(State())

    /// Creates a clock at time zero.
    public init() {}

    /// The clock's current time.
    public var now: Instant { state.withLock(\.now) }

    /// The smallest difference between two instants: 1 ns.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks now sleeping on this clock.
    public var pendingSleeps: Int { state.withLock { $0.sleepers.count } }

    /// The deadline of the next sleeper, or `nil` if nobody sleeps.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    /// The deadlines of all sleepers, earliest first.
    public var deadlines: [Instant] { state.withLock { $0.sleepers.values.map(\.deadline) }.sorted() }

    /// Sleeps until the clock has been advanced to the deadline.
    ///
    /// - Throws: `CancellationError`, immediately when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let (sleeper, watchers) = state.withLock { state -> (Sleeper?, ResumedWatchers?) in
            guard deadline > state.now else { return (nil, nil) }
            let sleeper = Sleeper(deadline: deadline, order: state.nextID())
            state.sleepers[sleeper.order] = sleeper
            return (sleeper, state.takeDueWatchers())
        }
        watchers?.resume()
        guard let sleeper else { return }
        let isReached = await sleeper.waiter.outcome { [self] _ in
            let (sleeper, watchers) = state.withLock { state in
                (state.sleepers.removeValue(forKey: sleeper.order), state.takeDueWatchers())
            }
            sleeper?.waiter.resume(with: false)
            watchers?.resume()
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
    public func advance(to instant: Instant) {
        advance { _ in instant }
    }

    private func advance(to target: (Instant) -> Instant) {
        let (sleepers, watchers) = state.withLock { state in
            state.now = max(state.now, target(state.now))
            return (state.takeDueSleepers(), state.takeDueWatchers())
        }
        for sleeper in sleepers { sleeper.waiter.resume(with: true) }
        watchers?.resume()
    }

    /// Waits until at least this many tasks sleep on this clock, or until the waiting task is cancelled.
    public func sleepers(_ count: Int) async {
        await watch { $0.sleeping >= count }
    }

    /// Waits until no task sleeps on this clock, or until the waiting task is cancelled.
    public func noSleepers() async {
        await watch { $0.sleeping == 0 }
    }

    /// Waits until the condition holds, or until the waiting task is cancelled. The condition is tested when the number of
    /// sleepers changes, when the clock's runs become idle, and by ``testConditions()``.
    ///
    /// - Returns: the situation in which the condition held, or the present one of a cancelled task.
    @discardableResult
    func watch(_ isDone: @escaping @Sendable (Situation) -> Bool) async -> Situation {
        let watcher = Watcher(isDone: isDone)
        let (id, situation) = state.withLock { state -> (Int, Situation?) in
            let (id, situation) = (state.nextID(), state.situation)
            if isDone(situation) { return (id, situation) }
            state.watchers[id] = watcher
            return (id, nil)
        }
        if let situation { return situation }
        return await watcher.waiter.outcome { [self] _ in
            let situation = state.withLock { state in
                state.watchers[id] = nil
                return state.situation
            }
            watcher.waiter.resume(with: situation)
        }
    }

    /// Tests the conditions of all waits again, after something else that they depend on has changed.
    func testConditions() { state.withLock { $0.takeDueWatchers() }?.resume() }

    /// Counts a job of a run, or its work on another thread, until ``endJob()``.
    func beginJob() { state.withLock { $0.jobs += 1 } }

    /// Ends a job that was counted by ``beginJob()``.
    func endJob() {
        state.withLock { state in
            state.jobs -= 1
            return state.jobs == 0 ? state.takeDueWatchers() : nil
        }?
        .resume()
    }
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
