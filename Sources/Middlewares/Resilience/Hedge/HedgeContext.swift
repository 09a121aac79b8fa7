extension HTTPContext {
    private enum WinnerKey: HTTPContextKey { static var defaultValue: Int? { nil } }
    private enum HedgeKey: HTTPContextKey { static var defaultValue: Bool { false } }

    /// On a response: which attempt of `hedge` it came from, 1 or 2; `nil` if there was no second attempt.
    public internal(set) var hedgeWinner: Int? {
        get { self[WinnerKey.self] }
        set { self[WinnerKey.self] = newValue }
    }

    /// On a request: whether it is the second attempt of `hedge`.
    public internal(set) var isHedge: Bool {
        get { self[HedgeKey.self] }
        set { self[HedgeKey.self] = newValue }
    }
}

extension Interceptor where Self == HedgeInterceptor {
    /// Sends a request a second time if the response is late. See ``HedgeInterceptor``.
    ///
    /// - Parameters:
    ///   - delay: the time to wait for a response before the second attempt.
    ///   - budget: a limit on the second attempts of many requests together: each request that may get a second attempt
    ///     deposits its share, and each second attempt withdraws one. No limit by default.
    ///   - time: measures the delay.
    ///   - isGood: whether an outcome may win; by default any response except a 429 or 5xx. The closure must not consume the
    ///     response's body.
    public static func hedge(
        after delay: Duration,
        budget: RetryBudget? = nil,
        time: TimeSource = .system,
        isGood: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Bool = HedgeInterceptor.isUsual
    ) -> Self {
        Self(after: delay, budget: budget, time: time, isGood: isGood)
    }
}
