internal import Synchronization

/// Runs the waiting lines: keeps one ``TokenWaitingLine`` per scope under a lock, and suspends and resumes tasks outside it.
final class RateLimiter: Sendable {
    /// The configuration of a limiter.
    struct Limits: Sendable {
        var bucket: TokenBucket
        var isPerHost = false
        var maxQueued: Int?
        var maxWait: Duration?
    }

    /// The message that ends a task's wait in line.
    private enum Call: Sendable {
        case lead
        case gaveUp(WaitAbandonment)
    }

    private struct State {
        var lines: [LimitScope: TokenWaitingLine<Waiter<Call>>] = [:]
        var limitOfLines = 64
    }

    private let limits: Limits
    private let stopwatch: Stopwatch
    private let observe: @Sendable (_ waiting: Int) -> Void
    private let state = Mutex(State())

    /// Creates a limiter.
    ///
    /// - Parameter observe: called with the number of waiting requests whenever a request starts to wait; for tests.
    init(_ limits: Limits, clock: any Clock<Duration>, observe: @escaping @Sendable (_ waiting: Int) -> Void) {
        self.limits = limits
        stopwatch = Stopwatch.starting(clock)
        self.observe = observe
    }

    /// The number of waiting requests, and the number of lines in memory.
    var counts: (waiting: Int, lines: Int) {
        state.withLock { ($0.lines.values.reduce(0) { $0 + $1.waiting }, $0.lines.count) }
    }

    /// Waits for a token.
    ///
    /// - Throws: `LimitError` if the request may not wait; ``TransportError`` with ``HTTPErrorCode/timedOut`` if no
    ///   token is available before the request's deadline; `CancellationError` at once if the task is cancelled.
    func acquire(for request: borrowing HTTPRequest) async throws {
        let scope = LimitScope(of: request, isPerHost: limits.isPerHost)
        let deadline = request.context.deadline
        let maxWait = Self.shorter(limits.maxWait, deadline?.remaining)
        let (step, count) = withLine(scope) { line, now in
            (line.enter(at: now, maxQueued: limits.maxQueued, maxWait: maxWait, Waiter()), line.waiting)
        }
        switch step {
        case .go: return
        case .full(let waiting):
            let error = LimitError.queueFull("rateLimit", waiting: waiting, request: request)
            request.note(.refused(error))
            throw error
        case .tooLong(let wait):
            if let limit = limits.maxWait, wait > limit {
                let error = LimitError.waitTooLong(wait, limit: limit, request: request)
                request.note(.refused(error))
                throw error
            }
            throw Self.timedOut(request, wait)
        case .lead(let ticket):
            observe(count)
            try await lead(ticket, in: scope, request)
        case .wait(let ticket, let waiter):
            observe(count)
            let call = await waiter.outcome(before: deadline) { [self] reason in
                withLine(scope) { line, _ in line.leave(ticket) }?.resume(with: .gaveUp(reason))
            }
            switch call {
            case .lead: try await lead(ticket, in: scope, request)
            case .gaveUp(.cancelled): throw CancellationError()
            case .gaveUp(.timeIsUp): throw Self.timedOut(request)
            }
        }
    }

    /// Takes a token without waiting, at the expense of the waiting requests.
    func bypass(_ request: borrowing HTTPRequest) {
        withLine(LimitScope(of: request, isPerHost: limits.isPerHost)) { line, now in line.bypass(at: now) }
    }

    private func lead(_ ticket: Int, in scope: LimitScope, _ request: borrowing HTTPRequest) async throws {
        do {
            while true {
                try Task.checkCancellation()
                switch withLine(scope, { line, now in line.lead(ticket, at: now) }) {
                case .go(let next):
                    next?.resume(with: .lead)
                    return request.note(.waited(for: "a token"))
                case .sleep(let due):
                    let wait = due - stopwatch.elapsed()
                    if let deadline = request.context.deadline, deadline.remaining < wait {
                        throw Self.timedOut(request, wait)
                    }
                    try await stopwatch.sleep(due)
                }
            }
        } catch {
            withLine(scope) { line, _ in line.resign(ticket) }?.resume(with: .lead)
            throw error
        }
    }

    private func withLine<Result: Sendable>(
        _ scope: LimitScope,
        _ body: (inout TokenWaitingLine<Waiter<Call>>, _ now: Duration) -> Result
    ) -> Result {
        let now = stopwatch.elapsed()
        return state.withLock { state in
            if state.lines[scope] == nil, state.lines.count >= state.limitOfLines { Self.forgetIdle(&state, now) }
            return body(&state.lines[scope, default: TokenWaitingLine(limits.bucket)], now)
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
