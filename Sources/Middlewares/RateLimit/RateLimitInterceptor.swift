/// Sends no more requests in a time than allowed; the others wait, first come, first served.
///
/// ```swift
/// interceptors: [
///     .retry(.exponential(maxAttempts: 3)),
///     .rateLimit(100, per: .seconds(60), burst: 10, perHost: true),
///     .timeout(.seconds(10), of: "one attempt"),          // its time doesn't run while it waits
/// ]
/// ```
/// It is a token bucket: with 100 a minute a token comes every 0.6 s, and up to `burst` of them can be saved for when many
/// requests come at once. In any span of time there go at most `burst` requests, and one more for each token that comes
/// in it. A server that counts in fixed windows of the same length and allows exactly as many is only safe with a `burst`
/// of 1.
///
/// ## Its place
/// Inside of what answers without the network (a cache), and of `retry`, so that each attempt counts. Outside of a
/// `timeout` of one attempt, unless waiting is to count. Outside of `limitConcurrency`, whose permits then are not held by
/// those who wait here. Its copies share their tokens: the same value may stand in several chains.
///
/// ## What it promises
/// - First come, first served; each host on its own, where hosts are limited one by one.
/// - A cancelled request leaves at once with `CancellationError`, and takes no token: those behind it go earlier.
/// - A request that can't have its turn before the deadline of the call (``HTTPContext/deadline``) fails at once, and one
///   that waits at the deadline, with ``TransportError/Code/timedOut``. One that finds as many waiting as may, or would wait
///   longer than it may, fails at once with ``RateLimitError``.
/// - A request that belongs to the refresh of a credential (``CredentialRefresh/isCurrent``) doesn't wait, since others wait
///   for it; it takes its token all the same.
public struct RateLimitInterceptor: Interceptor {
    let limiter: RateLimiter

    /// A limit.
    ///
    /// - Parameters:
    ///   - count: how many requests may be sent in each `period` in the long run, at least 1.
    ///   - period: the time in which so many may be sent.
    ///   - burst: the most requests that may go at once after a pause, from 1 to a million; by default `count`.
    ///   - perHost: whether each host, told by scheme, host and port, has a limit of its own; by default they share one.
    ///   - waiting: the most requests that wait, for each host if these have limits of their own; `nil` for no limit.
    ///   - longestWait: the longest that a request may have to wait; `nil` for no limit.
    ///   - clock: what the time is measured by.
    public init(
        _ count: Int,
        per period: Duration,
        burst: Int? = nil,
        perHost: Bool = false,
        waiting: Int? = nil,
        longestWait: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let bucket = Self.bucket(count, per: period, burst: burst)
        let limits = RateLimiter.Limits(bucket: bucket, isPerHost: perHost, waiting: waiting, longest: longestWait)
        self.init(limits, clock: clock) { _ in }
    }

    init(
        _ limits: RateLimiter.Limits,
        clock: any Clock<Duration>,
        observe: @escaping @Sendable (_ waiting: Int) -> Void
    ) {
        limiter = RateLimiter(limits, clock: clock, observe: observe)
    }

    // Within these bounds no sum of durations overflows.
    static func bucket(_ count: Int, per period: Duration, burst: Int?) -> TokenBucket {
        let count = max(1, count)
        let interval = min(max(.zero, period), Deadline.farthest) / count
        return TokenBucket(interval: interval, capacity: min(max(1, burst ?? count), 1_000_000))
    }

    /// Passes the request on when it is its turn.
    ///
    /// - Throws: ``RateLimitError``; ``TransportError`` with ``TransportError/Code/timedOut`` if its turn is not before the
    ///   deadline; `CancellationError`; what the rest throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if CredentialRefresh.isCurrent {
            limiter.overtake(request)
        } else {
            try await limiter.take(for: request)
        }
        return try await next(request)
    }
}

extension Interceptor where Self == RateLimitInterceptor {
    /// Sends no more requests in a time than allowed: see ``RateLimitInterceptor``, and its initialiser for the parameters.
    public static func rateLimit(
        _ count: Int,
        per period: Duration,
        burst: Int? = nil,
        perHost: Bool = false,
        waiting: Int? = nil,
        longestWait: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Self {
        Self(
            count,
            per: period,
            burst: burst,
            perHost: perHost,
            waiting: waiting,
            longestWait: longestWait,
            clock: clock
        )
    }
}
