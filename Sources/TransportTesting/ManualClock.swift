internal import Synchronization

/// A clock that stands still until a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// async let response = client.send(request)      // something in it sleeps for 2 s on this clock
/// await clock.sleepers(1)                        // … now it does
/// clock.advance(by: .seconds(2))
/// ```
public final class ManualClock: Clock, Sendable {
    /// A point in the time of a ``ManualClock``.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock was made.
        public let elapsed: Duration
        /// A point in time.
        public init(elapsed: Duration = .zero) { self.elapsed = elapsed }
        /// The point that lies a duration later.
        public func advanced(by duration: Duration) -> Self { Self(elapsed: elapsed + duration) }
        /// The duration to another point.
        public func duration(to other: Self) -> Duration { other.elapsed - elapsed }
        /// Whether one point comes before the other.
        public static func < (left: Self, right: Self) -> Bool { left.elapsed < right.elapsed }
        /// The time since the clock was made.
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

        /// Those who are due, the earliest first; of those due at once, the one that began to sleep first.
        mutating func takeDueSleepers() -> [Sleeper] {
            let due = sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { sleepers[id] = nil }
            return due.values.sorted { ($0.deadline, $0.order) < ($1.deadline, $1.order) }
        }
    }

    private let state = Mutex(State())

    /// A clock at time zero.
    public init() {}

    /// The clock's time.
    public var now: Instant { state.withLock(\.now) }

    /// The smallest difference between two instants that can be told.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks sleep on this clock now.
    public var pendingSleeps: Int { state.withLock { $0.sleepers.count } }

    /// When the next sleeper is due, if there is one.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    /// Sleeps until the clock has been advanced to the deadline.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled.
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
        // A cancellation that came after the sleep was over has left its mark.
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    /// Moves the time on, and wakes those whose deadline it reaches, in the order of their deadlines.
    ///
    /// Whoever is woken finds the clock at its new time, however much earlier its deadline was: a task that then sleeps
    /// again sleeps from there. To see several sleeps in a row, advance to ``nextDeadline`` and await ``sleepers(_:)``, by
    /// turns.
    public func advance(by duration: Duration) {
        // One step, so that of two tasks that advance the clock at once none is lost.
        advance { $0.advanced(by: duration) }
    }

    /// Moves the time on to a point, and wakes those whose deadline it reaches. A point in the past changes nothing.
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

    /// Waits until at least so many tasks sleep on this clock, or the waiting task is cancelled.
    public func sleepers(_ count: Int) async {
        await watch { $0 >= count }
    }

    /// Waits until no task sleeps on this clock, or the waiting task is cancelled.
    public func noSleepers() async {
        await watch { $0 == 0 }
    }

    private func watch(_ isDone: @escaping @Sendable (Int) -> Bool) async {
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

    // Of a sleeper or a watcher: they share their numbers.
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
