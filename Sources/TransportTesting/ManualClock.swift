public import Foundation
public import Interceptors
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
/// Pass the clock on as a ``Transport/TimeSource``: `.retry(time: .manual(clock))`.
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
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let isDone: @Sendable (_ pending: Int) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    /// The clock's mutable state. A continuation is resumed exactly once, outside the lock, by the call that removes its
    /// sleeper or watcher. `cancelled` holds the IDs of tasks cancelled before they were added, or after they were removed.
    private struct State {
        var now = Instant()
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var watchers: [Int: Watcher] = [:]

        mutating func nextID() -> Int {
            lastID += 1
            return lastID
        }

        mutating func takeDueWatchers() -> [Watcher] {
            let pending = sleepers.count
            let due = watchers.filter { $0.value.isDone(pending) }
            for id in due.keys { watchers[id] = nil }
            return Array(due.values)
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
        let id = state.withLock { $0.nextID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let sleeper = Sleeper(deadline: deadline, order: id, continuation: continuation)
                let (result, watchers): (Result<Void, any Error>?, [Watcher]) = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
                    if deadline <= state.now { return (.success(()), []) }
                    state.sleepers[id] = sleeper
                    return (nil, state.takeDueWatchers())
                }
                if let result { continuation.resume(with: result) }
                for watcher in watchers { watcher.continuation.resume() }
            }
        } onCancel: {
            cancel(id)
        }
        // A cancellation after the end of the sleep has left its ID in `cancelled`.
        state.withLock { _ = $0.cancelled.remove(id) }
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
        let (sleepers, watchers): ([Sleeper], [Watcher]) = state.withLock { state in
            state.now = max(state.now, target(state.now))
            return (state.takeDueSleepers(), state.takeDueWatchers())
        }
        for sleeper in sleepers { sleeper.continuation.resume() }
        for watcher in watchers { watcher.continuation.resume() }
    }

    /// Waits until at least this many tasks sleep on this clock, or until the waiting task is cancelled.
    public func sleepers(_ count: Int) async {
        await watch { $0 >= count }
    }

    /// Waits until no task sleeps on this clock, or until the waiting task is cancelled.
    public func noSleepers() async {
        await watch { $0 == 0 }
    }

    /// Waits until the condition holds for the number of sleepers, or until the waiting task is cancelled. The condition is
    /// tested when the number changes, and by ``testConditions()``.
    func watch(_ isDone: @escaping @Sendable (Int) -> Bool) async {
        let id = state.withLock { $0.nextID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDoneNow = state.withLock { state in
                    if state.cancelled.remove(id) != nil || isDone(state.sleepers.count) { return true }
                    state.watchers[id] = Watcher(isDone: isDone, continuation: continuation)
                    return false
                }
                if isDoneNow { continuation.resume() }
            }
        } onCancel: {
            cancel(id)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    /// Tests the conditions of all waits again, after something else that they depend on has changed.
    func testConditions() {
        for watcher in state.withLock({ $0.takeDueWatchers() }) { watcher.continuation.resume() }
    }

    // Cancels a sleeper or a watcher; both draw their IDs from the same sequence.
    private func cancel(_ id: Int) {
        let (sleeper, watchers): (Sleeper?, [Watcher]) = state.withLock { state in
            if let watcher = state.watchers.removeValue(forKey: id) { return (nil, [watcher]) }
            guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                state.cancelled.insert(id)
                return (nil, [])
            }
            return (sleeper, state.takeDueWatchers())
        }
        sleeper?.continuation.resume(throwing: CancellationError())
        for watcher in watchers { watcher.continuation.resume() }
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
