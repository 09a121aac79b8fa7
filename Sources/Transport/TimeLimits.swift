/// The time limits of a call, as a value without a clock.
package struct TimeLimits {
    package enum Limit: Sendable {
        case connect, idle, total
        /// The wait in the transport's own line.
        case line
        /// Traffic that nobody needs has stalled.
        case pause

        /// The error's text for a call that ran into this limit.
        package func message(after length: Duration) -> String {
            switch self {
            case .connect: "No connection was established within \(length) (timeouts.connect)."
            case .line:
                "The request waited \(length) for one of the transport's own connections, which other requests used all the"
                    + " time (timeouts.idle, CurlTransport(connectionsPerHost:))."
            // Transports don't report the bytes of an incomplete head.
            case .idle: "Neither a complete head nor content was sent or received for \(length) (timeouts.idle)."
            case .pause: "The rest of the traffic, which the call doesn't need, stalled for \(length)."
            case .total: "The call took longer than its limit of \(length) (timeouts.total)."
            }
        }
    }

    private var timeouts: Timeouts
    private var called: Duration?
    private var started: Duration?
    private var lastSign: Duration = .zero
    private var isAlive = false
    /// Whether the request waits in the transport's own line, where `connect` doesn't count.
    private(set) var isInLine = false
    private var isSurplus = false
    private(set) var isPaused = false
    private let noticesSuspension: Bool
    /// The time of the next requested check.
    private var due: Duration?

    /// Creates the limits of a call.
    ///
    /// - Parameters:
    ///   - calledAt: the start of the call, from which `total` counts; `nil` if it is the time of ``start(at:)``.
    ///   - noticesSuspension: whether a late check means that the process was suspended meanwhile (an app in the background,
    ///     a machine asleep). In virtual time a late check means nothing.
    package init(_ timeouts: Timeouts, calledAt: Duration? = .zero, noticesSuspension: Bool = false) {
        called = calledAt
        self.noticesSuspension = noticesSuspension
        // A limit of thirty years or more is ignored.
        func bounded(_ limit: Duration?) -> Duration? { limit.flatMap { $0 < Stopwatch.farthest ? $0 : nil } }
        self.timeouts = Timeouts(
            connect: bounded(timeouts.connect),
            idle: bounded(timeouts.idle),
            total: bounded(timeouts.total)
        )
        self.timeouts.spent = timeouts.spent
    }

    /// How late a check may come without meaning a suspension: 5 seconds. A busy machine is late by less.
    static let lateness = Duration.seconds(5)
    /// The longest time between checks, 15 seconds, so that a suspension is noticed in any part of a limit.
    static let longestSleep = Duration.seconds(15)

    /// Records that the request was passed to the system or to libcurl to be sent.
    package mutating func start(at now: Duration) {
        called = called ?? now
        started = now
        lastSign = now
        isInLine = false
    }

    /// Records that the request waits in the transport's own line, until ``start(at:)``.
    mutating func waitInLine(at now: Duration) {
        called = called ?? now
        lastSign = now
        isInLine = true
    }

    /// How long traffic that nobody needs may stall: the content of a redirect to follow, or the rest of a request after its
    /// complete response.
    private static let longestPause = Duration.seconds(1)

    /// Limits silences to a second from now on, because nobody needs the rest of the traffic.
    package mutating func shortenIdle() { isSurplus = true }

    /// How long nothing was sent or received.
    func silence(at now: Duration) -> Duration { now - lastSign }

    /// Records that a byte was sent or received.
    ///
    /// - Parameter ofConnection: whether the byte proves that a connection exists.
    package mutating func note(at now: Duration, ofConnection: Bool = true) {
        lastSign = now
        if ofConnection { isAlive = true }
    }

    /// Sets whether bytes wait for their reader, who may then be the cause of a silence. When none wait any more, `idle`
    /// restarts.
    package mutating func pause(_ isPaused: Bool, at now: Duration) {
        if self.isPaused, !isPaused { lastSign = now }
        self.isPaused = isPaused
    }

    /// Returns the limit that has passed, or the time of the next check; `nil` without limits.
    package mutating func check(at now: Duration) -> Check? {
        if noticesSuspension, let due, now - due > Self.lateness { restart(at: now) }
        let result = judge(at: now)
        guard case .wait(let until)? = result, noticesSuspension else { return result }
        let next = min(until, now + Self.longestSleep)
        due = next
        return .wait(until: next)
    }

    // A suspended process doesn't listen to the network, so the limits on the network's silence restart. The limit of the
    // whole call continues, because a person or a program is waiting.
    private mutating func restart(at now: Duration) {
        lastSign = now
        if started != nil { started = now }
    }

    private func judge(at now: Duration) -> Check? {
        let silence = (isInLine ? Limit.line : .idle, idle(now))
        let all = [(Limit.total, total), (.connect, connect), silence, (.pause, pause)]
        let earliest = all.compactMap { limit, deadline in deadline.map { (limit, $0) } }.min { $0.1 < $1.1 }
        guard let (limit, deadline) = earliest else { return nil }
        return deadline <= now ? .passed(limit, after: length(of: limit)) : .wait(until: deadline)
    }

    package enum Check {
        /// A limit has passed.
        case passed(Limit, after: Duration)
        case wait(until: Duration)

        /// The time of the next check.
        func time(from now: Duration) -> Duration {
            if case .wait(let until) = self { until } else { now }
        }
    }

    private var total: Duration? {
        guard let called, let limit = timeouts.total else { return nil }
        return called + limit - timeouts.spent
    }

    private var connect: Duration? {
        guard !isAlive, let limit = timeouts.connect else { return nil }
        return started.map { $0 + limit }
    }

    // A pause may end later, so checking again after the full limit is never too late.
    private func idle(_ now: Duration) -> Duration? {
        guard let limit = timeouts.idle else { return nil }
        return isPaused ? now + max(limit, .milliseconds(1)) : lastSign + limit
    }

    private var pause: Duration? { isSurplus ? lastSign + Self.longestPause : nil }

    private func length(of limit: Limit) -> Duration {
        switch limit {
        case .connect: timeouts.connect ?? .zero
        case .idle, .line: timeouts.idle ?? .zero
        case .total: timeouts.total ?? .zero
        case .pause: Self.longestPause
        }
    }
}
