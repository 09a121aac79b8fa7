/// The implementation of `.retry(…)`, documented there.
struct RetryInterceptor: PlacedInterceptor {
    let policy: RetryPolicy
    let budget: RetryBudget?
    let makeKey: (@Sendable () -> String)?
    let time: TimeSource

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        addKey(to: &request)
        budget?.deposit()
        let notes = request.context.interruptionNotes
        // Inner interceptors note facts about a single attempt, which must not end up in the notes on the whole call.
        if notes != nil { request.context.interruptionNotes = nil }
        var attempts: [RetryAttempt] = []
        while true {
            let answer: Result<HTTPResponse, any Error>
            do {
                answer = .success(try await next(copy request))
            } catch {
                answer = .failure(error)
            }
            guard let wait = try wait(after: answer, to: request, &attempts, notes) else {
                return try answer.get(after: attempts)
            }
            request.context.resendCount += 1
            do {
                if wait > .zero { try await time.clock.sleep(for: wait) }
                try Task.checkCancellation()
            } catch {
                notes?.change { $0.attempts = attempts }
                throw error
            }
        }
    }

    /// Records an attempt. Returns the wait before the next attempt, or `nil` if the answer is final.
    // Not inlined, because the compiler copies the loop for each of its suspension points.
    @inline(never)
    private func wait(
        after answer: Result<HTTPResponse, any Error>,
        to request: borrowing HTTPRequest,
        _ attempts: inout [RetryAttempt],
        _ notes: InterruptionNotes?
    ) throws -> Duration? {
        let number = attempts.count + 1
        // A cancelled task can fail with any error; the caller always gets `CancellationError`.
        if case .failure = answer, Task.isCancelled {
            attempts.append(RetryAttempt(number: number, answer: .failure(CancellationError()), stop: .cancelled))
            let attempts = attempts
            notes?.change { $0.attempts = attempts }
            throw CancellationError()
        }
        switch decision(after: number, answer, to: request) {
        case .accept:
            if answer.isFailure { request.note(.notWorthRetrying(answer.cause)) }
            if !attempts.isEmpty { attempts.append(RetryAttempt(number: number, answer: answer)) }
            return nil
        case .stop(let reason):
            request.note(.notRetried(reason, answer.cause))
            attempts.append(RetryAttempt(number: number, answer: answer, stop: reason))
            return nil
        case .retry(let wait):
            request.note(.retry(after: wait, answer.cause))
            answer.answered?.body.discard()
            attempts.append(RetryAttempt(number: number, answer: answer, wait: wait))
            return wait
        }
    }

    private func decision(
        after attempt: Int,
        _ answer: Result<HTTPResponse, any Error>,
        to request: borrowing HTTPRequest
    ) -> RetryDecision {
        let decision = policy.decision(after: attempt, answer, to: copy request, random: time.random, now: time.now())
        guard case .retry(let wait) = decision else { return decision }
        if let deadline = request.context.deadline {
            // A request refused because its permit would come after the deadline would be refused again.
            let turn =
                if case .failure(let error) = answer { UnsentError.cause(of: error)?.wait } else { nil as Duration? }
            if deadline.remaining <= max(wait, turn ?? .zero) { return .stop(.deadline) }
        }
        if let budget, !budget.withdraw() { return .stop(.budgetUsedUp) }
        return decision
    }

    private func addKey(to request: inout HTTPRequest) {
        guard let makeKey, !request.method.isIdempotent, !request.headers.contains(.idempotencyKey),
            request.context.callShape.mayGetIdempotencyKey
        else { return }
        request.headers.append(.idempotencyKey, makeKey())
    }

    var placement: [ChainRole] {
        let outcomes = policy.condition.knownOutcomes
        let isUsual = outcomes != nil && outcomes == OutcomeCondition.temporaryFailure.knownOutcomes
        let settings = "maxAttempts: \(policy.maxAttempts)" + (isUsual ? "" : ", when: …")
        let attempts = ChainRole.retries.with { $0.attempts = policy.maxAttempts }
        let roles = [.retries.only(outcomes), attempts, .waits, .set(settings)]
        return policy.condition.includesUnauthorized ? [.retriesUnauthorized] + roles : roles
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Sends a request again if its outcome is worth another attempt.
    ///
    /// ```swift
    /// interceptors: [
    ///     .timeout(.seconds(30)),                             // of all attempts, and the waits between them
    ///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
    ///     .retry(maxAttempts: 3),
    ///     .timeout(.seconds(10)),                             // of one attempt
    /// ]
    /// ```
    /// `.retry(maxAttempts: 3, when: .temporaryFailure || .status(409))` repeats further outcomes.
    ///
    /// ## Order
    /// - Inside interceptors whose result must stay the same for all attempts: transaction ID, token, deadline, cache.
    /// - Outside interceptors that must run for each attempt: signatures with a date, a timeout per attempt, logging of the
    ///   wire.
    /// - Inside `retryOnUnauthorized`, each token gets a full set of attempts; outside, a failed refresh can be retried.
    ///
    /// ## Behaviour
    /// - Each attempt sends the request as it reached this interceptor. ``RetryPolicy`` decides when; by default, `retry` never
    ///   repeats a request that isn't idempotent and that the server may have acted on.
    /// - The caller gets the last outcome, a response with its status or an error, unchanged except for its context. The
    ///   context lists the attempts and the reason they ended (``InterceptorsTransport/HTTPContext/attempts``), also on an error that is an
    ///   `HTTPError`.
    /// - The body of a response that isn't returned is discarded before the wait.
    /// - No attempt starts if the deadline (``InterceptorsTransport/HTTPContext/deadline``) leaves no time for a wait before it.
    /// - Cancelling the task ends a wait at once with `CancellationError`, which is never retried.
    ///
    /// ```swift
    /// let user: User = try await api.get("/users/42")         // GET: by itself
    /// var request = HTTPRequest(method: .post, url: url, body: order)
    /// request.headers[.idempotencyKey] = orderID         // POST: with a key that the server knows what to do with
    /// ```
    ///
    /// - Parameters:
    ///   - policy: decides which requests to repeat, how often, and after which wait.
    ///   - condition: the outcomes that are worth another attempt, in place of the policy's condition; `nil`, the default, for the
    ///     policy's.
    ///   - budget: a limit on the retries of many requests together; no limit by default.
    ///   - time: measures the waits and supplies the jitter. Its wall clock is compared with dates in `Retry-After`.
    ///   - idempotencyKey: makes a key for each request that isn't idempotent and has no key. The key is sent as
    ///     `Idempotency-Key`, identical in all attempts, and makes the request eligible for retries. Use only with servers that
    ///     honour the field. None by default.
    public static func retry(
        _ policy: RetryPolicy = .exponential(),
        when condition: OutcomeCondition? = nil,
        budget: RetryBudget? = nil,
        time: TimeSource = .system,
        idempotencyKey: (@Sendable () -> String)? = nil
    ) -> Self {
        var policy = policy
        if let condition { policy.condition = condition }
        return Self(RetryInterceptor(policy: policy, budget: budget, makeKey: idempotencyKey, time: time))
    }

    /// Sends a request again, with the default backoff, if its outcome is worth another attempt: `.retry(maxAttempts: 5)`.
    ///
    /// - Parameters:
    ///   - maxAttempts: the maximum number of attempts, including the first; 1 for no retry.
    ///   - condition: the outcomes that are worth another attempt; by default temporary failures.
    ///   - budget: a limit on the retries of many requests together; no limit by default.
    ///   - time: measures the waits and supplies the jitter.
    ///   - idempotencyKey: makes a key for each request that isn't idempotent and has no key; none by default.
    public static func retry(
        maxAttempts: Int,
        when condition: OutcomeCondition? = nil,
        budget: RetryBudget? = nil,
        time: TimeSource = .system,
        idempotencyKey: (@Sendable () -> String)? = nil
    ) -> Self {
        let policy = RetryPolicy.exponential(maxAttempts: maxAttempts)
        return retry(policy, when: condition, budget: budget, time: time, idempotencyKey: idempotencyKey)
    }

    /// Unavailable: a number without a label could count the retries or the attempts.
    @available(*, unavailable, message: "Write `.retry(maxAttempts: 3)`, which counts the first attempt too.")
    public static func retry(
        _ count: Int,
        when condition: OutcomeCondition? = nil,
        budget: RetryBudget? = nil,
        time: TimeSource = .system
    ) -> Self { retry(maxAttempts: count, when: condition, budget: budget, time: time) }
}
