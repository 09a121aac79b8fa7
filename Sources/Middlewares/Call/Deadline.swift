/// The moment by which a call must end, on any kind of clock.
///
/// A deadline travels in a request's context (``InterceptorsTransport/HTTPContext/deadline``), so that every interceptor knows how much time is
/// left. A retry, for example, starts no attempt and no wait that can't end in time.
///
/// ```swift
/// request.context.deadline = Deadline(after: .seconds(5))
/// ```
public struct Deadline: Sendable {
    private let remainingNow: @Sendable () -> Duration
    private let sleepNow: @Sendable () async throws -> Void
    /// Whether an outer `timeout` ends the call when the deadline passes, so that inner interceptors need no timer.
    package var isEnforced = false

    /// Creates a deadline that lies a duration from now. A deadline more than about thirty years away never passes.
    ///
    /// - Parameters:
    ///   - duration: the time from now; zero or less for a deadline that has already passed.
    ///   - time: measures the time.
    public init(after duration: Duration, time: TimeSource = .system) {
        let clock = time.clock
        self = Self.make(duration, clock)
    }

    package init(remaining: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable () async throws -> Void) {
        remainingNow = remaining
        sleepNow = sleep
    }

    /// The time that is left; zero or less once the deadline has passed.
    public var remaining: Duration { remainingNow() }

    /// Whether no time is left.
    public var hasPassed: Bool { remaining <= .zero }

    /// The deadline with less time remaining, even if the two use different clocks.
    public static func earlier(_ left: Deadline, _ right: Deadline) -> Deadline {
        right.remaining < left.remaining ? right : left
    }

    /// Waits until the deadline passes. Returns at once if it has passed.
    ///
    /// - Throws: `CancellationError` at once if the task is cancelled.
    public func sleep() async throws { try await sleepNow() }

    private static func make(_ duration: Duration, _ clock: some Clock<Duration>) -> Deadline {
        let farthest = Stopwatch.farthest
        guard duration < farthest else {
            return Deadline(remaining: { farthest }, sleep: { try await clock.sleep(for: farthest) })
        }
        let end = clock.now.advanced(by: max(.zero, duration))
        return Deadline(
            remaining: { clock.now.duration(to: end) },
            sleep: { try await clock.sleep(until: end, tolerance: nil) }
        )
    }
}

extension HTTPContext {
    private enum DeadlineKey: HTTPContextKey { static var defaultValue: Deadline? { nil } }

    /// On a request: the moment by which the whole call must end; `nil` for no limit.
    ///
    /// `timeout` sets the deadline, or brings it forward, for inner interceptors, and also ends calls at a deadline that the
    /// caller set. `retry` starts no attempt that can't end before the deadline.
    public var deadline: Deadline? {
        get { self[DeadlineKey.self] }
        set {
            self[DeadlineKey.self] = newValue
            let harm = "Nothing ends the call at its deadline."
            noteWish("deadline", if: newValue != nil, grantedBy: .setsDeadline, ".timeout()", harm: harm)
        }
    }
}
