/// Time since a call began, on a clock of any kind.
struct CallClock: Sendable {
    /// How long ago the call began.
    let elapsed: @Sendable () -> Duration
    /// Sleeps until so long after the call began.
    let sleep: @Sendable (_ until: Duration) async throws -> Void

    static func starting(_ clock: some Clock<Duration>) -> CallClock {
        let start = clock.now
        return CallClock(
            elapsed: { start.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        )
    }
}

/// When a call has taken too long: the limits of ``Timeouts``, decided without a clock.
struct Deadlines {
    /// Which limit has passed.
    enum Limit: Sendable { case connect, idle, whole }

    private let timeouts: Timeouts
    private var started: Duration?
    private var lastSign: Duration = .zero
    private var isAlive = false
    private var isPaused = false

    init(_ timeouts: Timeouts) {
        func bounded(_ limit: Duration?) -> Duration? { limit.flatMap { $0 < Self.farthest ? $0 : nil } }
        self.timeouts = Timeouts(
            connect: bounded(timeouts.connect),
            idle: bounded(timeouts.idle),
            whole: bounded(timeouts.whole)
        )
    }

    // Thirty years are no limit, and instants of clocks that lie farther away can overflow.
    static let farthest = Duration.seconds(1_000_000_000)

    /// The request was handed over to be sent.
    mutating func start(at now: Duration) {
        started = now
        lastSign = now
    }

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
    func check(at now: Duration) -> Check? {
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
