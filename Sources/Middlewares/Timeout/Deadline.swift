/// The moment at which a call must have ended, on a clock of any kind.
///
/// It travels in a request's context (``HTTPContext/deadline``), so that whoever would wait or begin again knows what time is
/// left: a retry does not begin an attempt, nor wait for one, that can't end in time.
///
/// ```swift
/// request.context.deadline = Deadline(after: .seconds(5))
/// ```
public struct Deadline: Sendable {
    private let remainingNow: @Sendable () -> Duration
    private let sleepNow: @Sendable () async throws -> Void
    /// Whether a `timeout` further outside ends the call when it passes, so that nobody inside has to.
    var isEnforced = false

    /// A deadline a while from now. One that lies more than thirty years away never passes.
    ///
    /// - Parameters:
    ///   - duration: how long from now; zero or less for one that has passed.
    ///   - clock: what the time is measured by.
    public init(after duration: Duration, clock: any Clock<Duration> = ContinuousClock()) {
        self = Self.make(duration, clock)
    }

    init(
        remaining: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable () async throws -> Void
    ) {
        remainingNow = remaining
        sleepNow = sleep
    }

    /// The time that is left; zero or less once it has passed.
    public var remaining: Duration { remainingNow() }

    /// Whether no time is left.
    public var hasPassed: Bool { remaining <= .zero }

    /// The one of two that passes first, whatever their clocks.
    public static func earlier(_ left: Deadline, _ right: Deadline) -> Deadline {
        right.remaining < left.remaining ? right : left
    }

    /// Returns when it passes.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func sleep() async throws { try await sleepNow() }

    // Instants of clocks that lie farther away can overflow.
    static let farthest = Duration.seconds(1_000_000_000)

    private static func make(_ duration: Duration, _ clock: some Clock<Duration>) -> Deadline {
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

    /// On a request: when the whole call must have ended, `nil` for no such moment.
    ///
    /// `timeout` sets it, or brings it forward, for those further inside; it ends calls at a deadline that the caller set.
    /// `retry` begins nothing that can't end before it.
    public var deadline: Deadline? {
        get { self[DeadlineKey.self] }
        set { self[DeadlineKey.self] = newValue }
    }
}
