/// The implementation of `.hedge(…)`, documented there.
struct HedgeInterceptor: PlacedInterceptor {
    private typealias Answer = Result<HTTPResponse, any Error>
    private typealias Race = HedgeRace<Answer>

    private enum Event: Sendable {
        case answer(Race.Try, Answer)
        case delayIsOver
        case delayEnded
    }

    let delay: Duration
    let budget: RetryBudget?
    let isGood: @Sendable (Result<HTTPResponse, any Error>) -> Bool
    let clock: any Clock<Duration>

    /// Accepts any response except a 429 or 5xx, also one that an inner `validateStatus` turned into an error.
    @Sendable
    static func isUsual(_ answer: Result<HTTPResponse, any Error>) -> Bool {
        guard let response = answer.answered else { return false }
        return response.status != 429 && response.status.kind != .serverError
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.method.isSafe, request.body.isRestartable else { return try await next(request) }
        budget?.deposit()
        if let deadline = request.context.deadline, deadline.remaining <= delay { return try await next(request) }
        let step = request.context.observedStep
        let (winner, hasSecond, answer) = try await race(request, next)
        if hasSecond { step?.add(.hedgeWon(by: winner.rawValue)) }
        var response = try answer.get()
        if hasSecond { response.context.hedgeAttempt = winner.rawValue }
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
                case .startSecond:
                    request.note(.hedged(after: delay))
                    group.addTask { await Self.send(Self.hedge(of: request), .second, next) }
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
        second.context.hedgeAttempt = 2
        second.context.resendCount += 1
        second.context.uploadProgress = nil
        second.context.downloadProgress = nil
        second.context.interim = nil
        return second
    }

    private static func discard(_ answer: Answer) {
        answer.answered?.body.discard()
    }

    var placement: [ChainRole] { [.hedges, .set("after: \(delay.code)")] }
}
