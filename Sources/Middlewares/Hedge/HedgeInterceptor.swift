/// Sends a request a second time when the answer is late, and takes whichever answer comes first.
///
/// ```swift
/// interceptors: [
///     .cache(.memory()),
///     .retry(.exponential(maxAttempts: 3)),
///     .hedge(after: .milliseconds(300), budget: RetryBudget(share: 0.05)),
///     .limitConcurrency(32, perHost: 6),
///     .timeout(.seconds(10), of: "one attempt"),
/// ]
/// ```
/// A few slow answers of a large service make many calls slow. With a delay that 95 of 100 answers come within, a second try
/// for the other five costs five more requests, and the slowest calls become about as fast as the others (Dean, Barroso: The
/// Tail at Scale, 2013).
///
/// ## Its place
/// Inside of what answers without the network, of `coalesce`, of `retry`, and of what must be the same for both tries (token,
/// transaction ID). Outside of what counts or limits requests, since there are two (`limitConcurrency`, `rateLimit`,
/// `circuitBreaker`, a `timeout` of one attempt), and of what each must have of its own (a signature).
///
/// ## What it promises
/// - Only safe requests (RFC 9110 §9.2.1) whose body can be sent again get a second try; any other just goes its way. There is
///   none if the first try is answered before the delay is over, well or badly; if the budget is used up; or if the call's
///   deadline (``HTTPContext/deadline``) leaves no time for it.
/// - The first good answer wins. A bad one, by default an error or a status 429 or 5xx, waits for the other try while that is
///   under way; if both are bad, that of the first try is the call's. A bad response that is streamed is not kept waiting,
///   since it would hold the connection and the permit that the other try may need: it is discarded, and the other answer is
///   the call's.
/// - The other try is cancelled, and waited for, so that nothing of it runs on; its response is discarded. What doesn't honour
///   cancellation delays the answer.
/// - Cancelling the call cancels both tries.
/// - The response says which try won (``HTTPContext/hedgeWinner``); the second request says that it is one
///   (``HTTPContext/isHedge``), and reports no progress.
public struct HedgeInterceptor: Interceptor {
    private typealias Answer = Result<HTTPResponse, any Error>
    private typealias Race = HedgeRace<Answer>

    private enum Event: Sendable {
        case answer(Race.Try, Answer)
        case delayIsOver
        case delayEnded
    }

    private let delay: Duration
    private let budget: RetryBudget?
    private let isGood: @Sendable (Result<HTTPResponse, any Error>) -> Bool
    private let clock: any Clock<Duration>

    /// An interceptor that sends a second time.
    ///
    /// - Parameters:
    ///   - delay: how late the answer must be.
    ///   - budget: a limit for the second tries of many requests together: each request that might get one earns its share,
    ///     and each second try costs one. None by default.
    ///   - isGood: whether an answer is worth winning. It must not consume the response's body.
    ///   - clock: what the delay is measured by.
    public init(
        after delay: Duration,
        budget: RetryBudget? = nil,
        isGood: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Bool = HedgeInterceptor.isUsual,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.delay = min(delay, Deadline.farthest)
        self.budget = budget
        self.isGood = isGood
        self.clock = clock
    }

    /// What is good by default: any response but a 429 or 5xx, also where `validateStatus` inside has made an error of it.
    public static func isUsual(_ answer: Result<HTTPResponse, any Error>) -> Bool {
        guard let response = answer.answered else { return false }
        return response.status != 429 && response.status.kind != .serverError
    }

    /// Passes the request on, and a second time if the answer is late.
    ///
    /// - Throws: what the first try throws if no try was better; `CancellationError`.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.method.isSafe, request.body.isRestartable else { return try await next(request) }
        budget?.deposit()
        if let deadline = request.context.deadline, deadline.remaining <= delay { return try await next(request) }
        let (winner, hasSecond, answer) = try await race(request, next)
        var response = try answer.get()
        if hasSecond { response.context.hedgeWinner = winner.rawValue }
        return response
    }

    private func race(_ request: HTTPRequest, _ next: Next) async throws -> (Race.Try, hasSecond: Bool, Answer) {
        let result = await withTaskGroup(of: Event.self) { group -> (Race.Try, hasSecond: Bool, Answer)? in
            group.addTask { await Self.send(request, .first, next) }
            group.addTask { [clock, delay] in
                do { try await clock.sleep(for: delay) } catch { return .delayEnded }
                return .delayIsOver
            }
            var race = Race()
            var result: (Race.Try, hasSecond: Bool, Answer)?
            for await event in group {
                let step: Race.Step =
                    switch event {
                    case .delayEnded: .wait
                    case .delayIsOver: race.delayIsOver { !Task.isCancelled && budget?.withdraw() ?? true }
                    case .answer(let number, let answer): race.answer(number, answer, worth(answer, of: number))
                    }
                switch step {
                case .wait: break
                case .startSecond: group.addTask { await Self.send(Self.hedge(of: request), .second, next) }
                case .discard(let answer): Self.discard(answer)
                case .finish(let winner, let answer, let loser):
                    if let loser { Self.discard(loser) }
                    result = (winner, race.hasSecond, answer)
                    group.cancelAll()
                }
            }
            return result
        }
        // The first try always answers, and so ends the race at the latest when the second has, too.
        guard let result else { throw CancellationError() }
        return result
    }

    private func worth(_ answer: Answer, of number: Race.Try) -> Race.Worth {
        // A cancellation is the call's, unless it is only the second try that something inside has cancelled.
        if Task.isCancelled { return .final }
        if case .failure(is CancellationError) = answer { return number == .first ? .final : .bad }
        if isGood(answer) { return .good }
        return answer.answered?.body.isUnderWay == true ? .badStream : .bad
    }

    private static func send(_ request: HTTPRequest, _ number: Race.Try, _ next: Next) async -> Event {
        do {
            return .answer(number, .success(try await next(request)))
        } catch {
            return .answer(number, .failure(error))
        }
    }

    private static func hedge(of request: HTTPRequest) -> HTTPRequest {
        var second = request
        second.context.isHedge = true
        second.context.uploadProgress = nil
        second.context.downloadProgress = nil
        return second
    }

    private static func discard(_ answer: Answer) {
        if case .success(let response) = answer { response.body.discard() }
    }
}
