/// Sends a request a second time if the response is late, and returns the response that comes first.
///
/// ```swift
/// interceptors: [
///     .cache(.memory()),
///     .retry(3),
///     .hedge(after: .milliseconds(300), budget: RetryBudget(share: 0.05)),
///     .limitConcurrency(32, perHost: 6),
///     .timeout(.seconds(10), of: "one attempt"),
/// ]
/// ```
/// A few slow responses of a large service make many calls slow. If 95 of 100 responses arrive within the delay, second
/// attempts for the other five cost five more requests. The slowest calls then become about as fast as the others (Dean,
/// Barroso: The Tail at Scale, 2013).
///
/// ## Order
/// - Inside interceptors that can respond without the network, and inside `coalesce` and `retry`.
/// - Inside interceptors whose result must be the same for both attempts: token, transaction ID.
/// - Outside interceptors that count or limit requests, because there can be two: `limitConcurrency`, `rateLimit`,
///   `circuitBreaker`, a `timeout` of one attempt.
/// - Outside interceptors that must run for each attempt: a signature.
///
/// ## Behaviour
/// - Only safe requests (RFC 9110 §9.2.1) whose body can be sent again get a second attempt; all others are passed on once.
///   There is no second attempt if the first ends within the delay, with any outcome; if the budget is used up; or if the
///   call's deadline (``HTTPContext/deadline``) leaves no time for it.
/// - The first good outcome wins. A bad outcome, by default an error or a status 429 or 5xx, waits for the other attempt. If
///   both are bad, the call ends with the outcome of the first attempt.
/// - A bad streamed response doesn't wait, because it holds the connection and the permit that the other attempt may need.
///   The interceptor discards it, and the call ends with the other attempt's outcome.
/// - The losing attempt is cancelled and awaited, so that no work continues after the call; its response is discarded. An
///   inner interceptor or transport that ignores cancellation delays the call.
/// - Cancelling the call cancels both attempts.
/// - The response names the winning attempt (``HTTPContext/hedgeWinner``). The second request is marked
///   (``HTTPContext/isHedge``) and reports no progress.
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

    init(
        after delay: Duration,
        budget: RetryBudget? = nil,
        time: TimeSource = .system,
        isGood: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Bool = HedgeInterceptor.isUsual
    ) {
        self.delay = min(delay, Stopwatch.farthest)
        self.budget = budget
        self.isGood = isGood
        clock = time.clock
    }

    /// The default of `isGood`: accepts any response except a 429 or 5xx, also one that an inner `validateStatus` turned into
    /// an error.
    public static func isUsual(_ answer: Result<HTTPResponse, any Error>) -> Bool {
        guard let response = answer.answered else { return false }
        return response.status != 429 && response.status.kind != .serverError
    }

    /// Passes the request on, and a second time if the response is late.
    ///
    /// - Throws: the first attempt's error if no attempt was better; `CancellationError`.
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
        // The first attempt always ends, and the race is over at the latest when both have.
        guard let result else { throw CancellationError() }
        return result
    }

    private func worth(_ answer: Answer, of number: Race.Try) -> Race.Worth {
        // A cancellation is the call's, unless an inner interceptor cancelled only the second attempt.
        if Task.isCancelled { return .final }
        if case .failure(is CancellationError) = answer { return number == .first ? .final : .bad }
        if isGood(answer) { return .good }
        return answer.answered?.body.isUnreadStream == true ? .badStream : .bad
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
        second.context.resendCount += 1
        second.context.uploadProgress = nil
        second.context.downloadProgress = nil
        return second
    }

    private static func discard(_ answer: Answer) {
        answer.answered?.body.discard()
    }
}
