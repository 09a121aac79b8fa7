/// The implementation of `.rateLimit(…)`, documented there.
struct RateLimitInterceptor: PlacedInterceptor {
    let limiter: RateLimiter

    init(
        _ limits: RateLimiter.Limits,
        time: TimeSource,
        observe: @escaping @Sendable (_ waiting: Int) -> Void = { _ in }
    ) {
        limiter = RateLimiter(limits, clock: time.clock, observe: observe)
    }

    // These bounds keep every sum of durations from overflowing.
    static func bucket(_ count: Int, per period: Duration, burst: Int?) -> TokenBucket {
        let count = max(1, count)
        let interval = min(max(.zero, period), Stopwatch.farthest) / count
        return TokenBucket(interval: interval, capacity: min(max(1, burst ?? count), 1_000_000))
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if Task.isRefreshingCredential {
            limiter.bypass(request)
        } else {
            try await limiter.acquire(for: request)
        }
        return try await next(request)
    }

    var placement: [ChainRole] { [.limitsRate, .waits, .keepsOrder] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Limits how many requests are sent in a period; further requests wait, first come, first served.
    ///
    /// ```swift
    /// interceptors: [
    ///     .retry(maxAttempts: 3),
    ///     .rateLimit(100, per: .seconds(60), burst: 10, perHost: true),
    ///     .timeout(.seconds(10), of: "one attempt"),          // its time doesn't run while it waits
    /// ]
    /// ```
    /// The limiter is a token bucket. With 100 requests a minute, the bucket gains a token every 0.6 s, and saves up to `burst`
    /// tokens for sudden demand. Any span of time sees at most `burst` requests, plus one for each token gained in that span.
    /// If a server counts in fixed windows with the same limit and period, only a `burst` of 1 is safe.
    ///
    /// ## Order
    /// - Inside interceptors that can respond without the network, such as a cache.
    /// - Inside `retry`, so that each attempt counts.
    /// - Outside a `timeout` of one attempt, unless the timeout should include the wait.
    /// - Outside `limitConcurrency`, so that requests waiting here hold no permits there.
    ///
    /// Copies share their tokens, so the same value can be part of several chains.
    ///
    /// ## Behaviour
    /// - First come, first served. With `perHost`, each host has a separate waiting line.
    /// - A cancelled request stops waiting at once with `CancellationError` and takes no token; the requests behind it move up.
    /// - A request that can't get a token before the call's deadline (`context.deadline`) fails at once with
    ///   `HTTPErrorCode.timedOut`. A request still waiting at the deadline fails then, with the same error.
    /// - A request that finds the waiting line full, or would have to wait longer than allowed, fails at once with
    ///   `LimitError`.
    /// - A request that refreshes a credential (`Task.isRefreshingCredential`) takes a token but doesn't wait, because other
    ///   requests wait for the refresh.
    ///
    /// - Parameters:
    ///   - count: the number of requests allowed per `period` in the long run, at least 1.
    ///   - period: the period in which `count` requests may be sent.
    ///   - burst: the maximum number of requests sent at once after a pause, from 1 to a million; by default `count`.
    ///   - perHost: whether each host (scheme, host and port) has a separate limit; by default all hosts share one limit.
    ///   - maxQueued: the maximum number of waiting requests, counted per host if `perHost` is set; `nil`, the default, for no
    ///     limit.
    ///   - maxWait: the maximum time that a request may have to wait; `nil`, the default, for no limit.
    ///   - time: measures the time.
    public static func rateLimit(
        _ count: Int,
        per period: Duration,
        burst: Int? = nil,
        perHost: Bool = false,
        maxQueued: Int? = nil,
        maxWait: Duration? = nil,
        time: TimeSource = .system
    ) -> Self {
        let bucket = RateLimitInterceptor.bucket(count, per: period, burst: burst)
        let limits = RateLimiter.Limits(bucket: bucket, isPerHost: perHost, maxQueued: maxQueued, maxWait: maxWait)
        return Self(RateLimitInterceptor(limits, time: time))
    }
}
