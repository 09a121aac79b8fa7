internal import Interceptors

/// The time limits of a call, as a value without a clock.
struct TimeLimits {
    enum Check {
        case passed(String)
        case wait(Duration)
    }

    private let timeouts: Timeouts
    private var lastSign = Duration.zero
    private var isConnected = false

    init(_ timeouts: Timeouts) {
        // A limit of about 32 years or more is dropped, because adding it to an instant can overflow.
        func bounded(_ limit: Duration?) -> Duration? { limit.flatMap { $0 < .seconds(1_000_000_000) ? $0 : nil } }
        self.timeouts = Timeouts(
            connect: bounded(timeouts.connect),
            idle: bounded(timeouts.idle),
            total: bounded(timeouts.total)
        )
    }

    var hasAny: Bool { timeouts != Timeouts(connect: nil, idle: nil, total: nil) }

    /// Notes that bytes moved, or may again, on a connection.
    mutating func note(at now: Duration) {
        lastSign = now
        isConnected = true
    }

    /// Whether a limit has passed, and otherwise when to check again. While bytes wait for their reader, silence doesn't count.
    func check(at now: Duration, isPaused: Bool) -> Check {
        let silence =
            isPaused ? timeouts.idle.map { now + max($0, .milliseconds(1)) } : timeouts.idle.map { lastSign + $0 }
        let deadlines = [
            (timeouts.total, "The call took longer than its limit of", "total"),
            (isConnected ? nil : timeouts.connect, "No connection was established within", "connect"),
            (silence, "Nothing was sent or received for", "idle"),
        ]
        let next = deadlines.compactMap { deadline, text, name in deadline.map { ($0, text, name) } }.min {
            $0.0 < $1.0
        }
        guard let (deadline, text, name) = next else { return .wait(.seconds(3600)) }
        guard deadline <= now else { return .wait(deadline - now) }
        let limit = ["total": timeouts.total, "connect": timeouts.connect, "idle": timeouts.idle][name] ?? nil
        return .passed("\(text) \(limit ?? .zero) (timeouts.\(name)).")
    }
}
