internal import Synchronization

/// Runs the waiting lines: keeps one ``RateLine`` per scope under a lock, and suspends, sleeps and resumes tasks outside it.
final class RateLimiter: Sendable {
    /// The configuration of a limiter.
    struct Limits: Sendable {
        var bucket: TokenBucket
        var isPerHost = false
        var waiting: Int?
        var longest: Duration?
    }

    /// The message that ends a task's wait in line.
    private enum Call: Sendable {
        case lead
        case gaveUp(GivingUp)
    }

    private struct State {
        var lines: [LimitScope: RateLine<Turn<Call>>] = [:]
        var limitOfLines = 64
    }

    private let limits: Limits
    private let timeline: Timeline
    private let observe: @Sendable (_ waiting: Int) -> Void
    private let state = Mutex(State())

    /// Creates a limiter.
    ///
    /// - Parameter observe: called with the number of waiting requests whenever a request starts to wait; for tests.
    init(_ limits: Limits, clock: any Clock<Duration>, observe: @escaping @Sendable (_ waiting: Int) -> Void) {
        self.limits = limits
        self.timeline = Timeline(clock)
        self.observe = observe
    }

    /// The number of waiting requests, and the number of lines in memory.
    var counts: (waiting: Int, lines: Int) {
        state.withLock { ($0.lines.values.reduce(0) { $0 + $1.waiting }, $0.lines.count) }
    }

    /// Waits for a token.
    ///
    /// - Throws: ``RateLimitError`` if the request may not wait; ``TransportError`` with ``TransportError/Code/timedOut`` if no
    ///   token is available before the request's deadline; `CancellationError` at once if the task is cancelled.
    func take(for request: borrowing HTTPRequest) async throws {
        let scope = LimitScope(of: request, isPerHost: limits.isPerHost)
        let deadline = request.context.deadline
        let longest = Self.shorter(limits.longest, deadline?.remaining)
        let (step, count) = withLine(scope) { line, now in
            (line.enter(at: now, limit: limits.waiting, longest: longest, Turn()), line.waiting)
        }
        switch step {
        case .go: return
        case .full(let waiting): throw RateLimitError.queueFull(waiting: waiting, request: request)
        case .tooLong(let wait):
            if let most = limits.longest, wait > most {
                throw RateLimitError.waitTooLong(wait, limit: most, request: request)
            }
            throw Self.timedOut(request, wait)
        case .lead(let ticket):
            observe(count)
            try await lead(ticket, in: scope, request)
        case .wait(let ticket, let turn):
            observe(count)
            let call = await turn.outcome(before: deadline) { [self] reason in
                withLine(scope) { line, _ in line.leave(ticket) }?.tell(.gaveUp(reason))
            }
            switch call {
            case .lead: try await lead(ticket, in: scope, request)
            case .gaveUp(.cancelled): throw CancellationError()
            case .gaveUp(.timeIsUp): throw Self.timedOut(request)
            }
        }
    }

    /// Takes a token without waiting, at the expense of the waiting requests.
    func overtake(_ request: borrowing HTTPRequest) {
        withLine(LimitScope(of: request, isPerHost: limits.isPerHost)) { line, now in line.overtake(at: now) }
    }

    private func lead(_ ticket: Int, in scope: LimitScope, _ request: borrowing HTTPRequest) async throws {
        do {
            while true {
                try Task.checkCancellation()
                switch withLine(scope, { line, now in line.lead(ticket, at: now) }) {
                case .go(let next):
                    next?.tell(.lead)
                    return
                case .sleep(let due):
                    let wait = due - timeline.now()
                    if let deadline = request.context.deadline, deadline.remaining < wait {
                        throw Self.timedOut(request, wait)
                    }
                    try await timeline.sleep(due)
                }
            }
        } catch {
            withLine(scope) { line, _ in line.resign(ticket) }?.tell(.lead)
            throw error
        }
    }

    private func withLine<Result: Sendable>(
        _ scope: LimitScope,
        _ body: (inout RateLine<Turn<Call>>, _ now: Duration) -> Result
    ) -> Result {
        let now = timeline.now()
        return state.withLock { state in
            if state.lines[scope] == nil, state.lines.count >= state.limitOfLines { Self.forgetIdle(&state, now) }
            return body(&state.lines[scope, default: RateLine(limits.bucket)], now)
        }
    }

    // A line that still lacks tokens must stay in memory: a new one would start with a full bucket and break the limit.
    private static func forgetIdle(_ state: inout State, _ now: Duration) {
        state.lines = state.lines.filter { !$0.value.isIdle(at: now) }
        state.limitOfLines = max(64, 2 * state.lines.count)
    }

    private static func shorter(_ left: Duration?, _ right: Duration?) -> Duration? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    private static func timedOut(_ request: borrowing HTTPRequest, _ wait: Duration = .zero) -> TransportError {
        UnsentError.timedOut(waitingFor: "its turn of rateLimit", request, wait: wait)
    }
}
