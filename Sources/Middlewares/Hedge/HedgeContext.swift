extension HTTPContext {
    private enum WinnerKey: HTTPContextKey { static var defaultValue: Int? { nil } }
    private enum HedgeKey: HTTPContextKey { static var defaultValue: Bool { false } }

    /// On a response: which try of `hedge` it answers, 1 or 2; `nil` if there was no second one.
    public internal(set) var hedgeWinner: Int? {
        get { self[WinnerKey.self] }
        set { self[WinnerKey.self] = newValue }
    }

    /// On a request: whether it is the second try that `hedge` makes.
    public internal(set) var isHedge: Bool {
        get { self[HedgeKey.self] }
        set { self[HedgeKey.self] = newValue }
    }
}

extension Interceptor where Self == HedgeInterceptor {
    /// Sends a request a second time when the answer is late: see ``HedgeInterceptor``.
    ///
    /// - Parameters:
    ///   - delay: how late the answer must be.
    ///   - budget: a limit for the second tries of many requests together; none by default.
    ///   - isGood: whether an answer is worth winning; by default any response but a 429 or 5xx.
    ///   - clock: what the delay is measured by.
    public static func hedge(
        after delay: Duration,
        budget: RetryBudget? = nil,
        isGood: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Bool = HedgeInterceptor.isUsual,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Self {
        Self(after: delay, budget: budget, isGood: isGood, clock: clock)
    }
}
