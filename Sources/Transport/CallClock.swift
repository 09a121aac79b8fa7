/// Time since a call began, on a clock of any kind.
struct CallClock: Sendable {
    /// How long ago the call began.
    let elapsed: @Sendable () -> Duration
    /// Sleeps until so long after the call began.
    let sleep: @Sendable (_ until: Duration) async throws -> Void
    /// Whether the clock is one of the system's, which go on while the process doesn't.
    let isTheSystems: Bool

    static func starting(_ clock: some Clock<Duration>) -> CallClock {
        let start = clock.now
        return CallClock(
            elapsed: { start.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) },
            isTheSystems: clock is ContinuousClock || clock is SuspendingClock
        )
    }
}

/// When a call has taken too long: the limits of ``Timeouts``, decided without a clock.
struct Deadlines {
    /// Which limit has passed.
    enum Limit: Sendable { case connect, idle, whole }

    private var timeouts: Timeouts
    private var started: Duration?
    private var lastSign: Duration = .zero
    private var isAlive = false
    private var isPaused = false
    private let noticesSuspension: Bool
    /// When the next check was asked for.
    private var due: Duration?

    /// The limits of a call.
    ///
    /// - Parameter noticesSuspension: whether a check that comes late shows that the process was suspended meanwhile: an app
    ///   in the background, a machine asleep. In virtual time it shows nothing.
    init(_ timeouts: Timeouts, noticesSuspension: Bool = false) {
        self.noticesSuspension = noticesSuspension
        func bounded(_ limit: Duration?) -> Duration? { limit.flatMap { $0 < Self.farthest ? $0 : nil } }
        self.timeouts = Timeouts(
            connect: bounded(timeouts.connect),
            idle: bounded(timeouts.idle),
            whole: bounded(timeouts.whole)
        )
    }

    /// How late a check may come without showing that the process was suspended. A busy machine is late by less.
    static let lateness = Duration.seconds(5)
    /// How long no check is made at most, so that a suspension is noticed wherever in a limit it lies.
    static let longestSleep = Duration.seconds(15)

    // Thirty years are no limit, and instants of clocks that lie farther away can overflow.
    static let farthest = Duration.seconds(1_000_000_000)

    /// The request was handed over to be sent.
    mutating func start(at now: Duration) {
        started = now
        lastSign = now
    }

    /// From now on, no silence may be longer than this.
    mutating func shortenIdle(to limit: Duration) { timeouts.idle = min(limit, timeouts.idle ?? limit) }

    /// A byte went out or came in.
    ///
    /// - Parameter ofConnection: whether it shows that the connection stands.
    mutating func note(at now: Duration, ofConnection: Bool = true) {
        lastSign = now
        if ofConnection { isAlive = true }
    }

    /// Whether bytes wait for their reader, so that a silence may be its doing. When they no longer do, it counts anew.
    mutating func pause(_ isPaused: Bool, at now: Duration) {
        if self.isPaused, !isPaused { lastSign = now }
        self.isPaused = isPaused
    }

    /// The limit that has passed, or when to look again; `nil` without limits.
    mutating func check(at now: Duration) -> Check? {
        if noticesSuspension, let due, now - due > Self.lateness { restart(at: now) }
        let result = judge(at: now)
        guard case .wait(let until)? = result, noticesSuspension else { return result }
        let next = min(until, now + Self.longestSleep)
        due = next
        return .wait(until: next)
    }

    // While the process was suspended, nobody listened to the network: its silence counts anew. The limit of the whole call is
    // that of a person or a program who waits, and goes on.
    private mutating func restart(at now: Duration) {
        lastSign = now
        if started != nil { started = now }
    }

    private func judge(at now: Duration) -> Check? {
        var next: Duration?
        for (limit, deadline) in [(Limit.whole, timeouts.whole), (.connect, connect), (.idle, idle(now))] {
            guard let deadline else { continue }
            if deadline <= now { return .passed(limit, after: length(of: limit)) }
            next = min(next ?? deadline, deadline)
        }
        return next.map(Check.wait)
    }

    enum Check {
        case passed(Limit, after: Duration)
        case wait(until: Duration)
    }

    private var connect: Duration? {
        guard !isAlive, let limit = timeouts.connect else { return nil }
        return started.map { $0 + limit }
    }

    // A silence that does not count yet begins later: to look again after its whole length is never too late.
    private func idle(_ now: Duration) -> Duration? {
        guard let limit = timeouts.idle else { return nil }
        return isPaused ? now + max(limit, .milliseconds(1)) : lastSign + limit
    }

    private func length(of limit: Limit) -> Duration {
        switch limit {
        case .connect: timeouts.connect ?? .zero
        case .idle: timeouts.idle ?? .zero
        case .whole: timeouts.whole ?? .zero
        }
    }
}
