extension HTTPContext {
    private enum HedgeKey: HTTPContextKey { static var defaultValue: Int? { nil } }

    /// The attempt of `hedge`: 2 on the second request; on a response, the attempt it came from, 1 or 2. `nil` if there was no
    /// second attempt.
    public internal(set) var hedgeAttempt: Int? {
        get { self[HedgeKey.self] }
        set { self[HedgeKey.self] = newValue }
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Sends a request a second time if the response is late, and returns the response that comes first.
    ///
    /// ```swift
    /// interceptors: [
    ///     .cache(.memory()),
    ///     .retry(maxAttempts: 3),
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
    ///   call's deadline (`context.deadline`) leaves no time for it.
    /// - The first good outcome wins. A bad outcome, by default an error or a status 429 or 5xx, waits for the other attempt.
    ///   If both are bad, the call ends with the outcome of the first attempt.
    /// - A bad streamed response doesn't wait, because it holds the connection and the permit that the other attempt may need.
    ///   The interceptor discards it, and the call ends with the other attempt's outcome.
    /// - The losing attempt is cancelled and awaited, so that no work continues after the call; its response is discarded. An
    ///   inner interceptor or transport that ignores cancellation delays the call.
    /// - Cancelling the call cancels both attempts.
    /// - The response names the winning attempt (``InterceptorsTransport/HTTPContext/hedgeAttempt``). The second request is marked
    ///   with the same property, and reports neither progress nor interim responses.
    ///
    /// - Parameters:
    ///   - delay: the time to wait for a response before the second attempt.
    ///   - budget: a limit on the second attempts of many requests together: each request that may get a second attempt
    ///     deposits its share, and each second attempt withdraws one. No limit by default.
    ///   - time: measures the delay.
    ///   - isGood: whether an outcome may win; by default any response except a 429 or 5xx, also one that an inner `validateStatus`
    ///     turned into an error. The closure must not consume the response's body.
    public static func hedge(
        after delay: Duration,
        budget: RetryBudget? = nil,
        time: TimeSource = .system,
        isGood: (@Sendable (Result<HTTPResponse, any Error>) -> Bool)? = nil
    ) -> Self {
        let isGood = isGood ?? HedgeInterceptor.isUsual
        let delay = min(delay, Stopwatch.farthest)
        return Self(HedgeInterceptor(delay: delay, budget: budget, isGood: isGood, clock: time.clock))
    }
}
