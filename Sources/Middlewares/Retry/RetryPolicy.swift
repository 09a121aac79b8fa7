public import Foundation

/// What to do after an attempt: a value that decides, and does nothing.
///
/// ```swift
/// .retry(.exponential(maxAttempts: 3))
/// .retry(.constant(.seconds(1), maxAttempts: 5, condition: .status(409)))
/// .retry(.custom(maxAttempts: 4) { attempt, _ in .seconds(attempt * attempt) })
/// ```
/// ## What may be sent again
/// A request whose fate is unknown only if it is idempotent (RFC 9110 §9.2.2): by its method, by an `Idempotency-Key`
/// field, or because its context says so (``HTTPContext/isIdempotent``), which has the last word. Any other only after an
/// answer which says that the server did not act on it: 408, 421, 425, 429, or 413 or 503 with a `Retry-After`; or when nothing of it
/// was sent, because there was no connection, its time was up before its turn had come, or `limitConcurrency`, `rateLimit`,
/// `circuitBreaker` or `sign` refused it. A failure of TLS does not count: there is none that says for certain that nothing
/// was sent. Nor does any of this after a redirect, followed inside, that changed the method: the request itself was acted
/// on. And never one whose body is a one-shot stream that was used up.
///
/// ## How long it waits
/// As long as the backoff says, and at least as long as the server asks for, by `Retry-After`, `Retry-After-Ms`, or after a
/// 429 by `RateLimit-Reset` or `X-RateLimit-Reset`. A server that asks for no wait (`Retry-After: 0`) gets the next attempt
/// at once. Where it asks for a longer wait than the policy grants, there is no other attempt: it would come too early.
public struct RetryPolicy: Sendable {
    /// What `Retry-After` counts for.
    public struct RetryAfterRule: Sendable, Hashable {
        enum Excess: Sendable { case capped, refused }

        let limit: Duration
        let excess: Excess

        /// It is waited for, but no longer than this: an attempt may come before the server wants one.
        public static func capped(at limit: Duration) -> Self { Self(limit: max(.zero, limit), excess: .capped) }
        /// It is waited for, and where it is longer than this there is no other attempt.
        public static func refused(over limit: Duration) -> Self { Self(limit: max(.zero, limit), excess: .refused) }
        /// It is not looked at.
        public static let ignored = Self.capped(at: .zero)
    }

    /// The most attempts in all, the first one included; 1 for no retry.
    public var maxAttempts: Int
    /// How long to wait between attempts.
    public var backoff: Backoff
    /// Which answers are worth another attempt.
    public var condition: RetryCondition
    /// What `Retry-After` counts for.
    public var retryAfter: RetryAfterRule

    /// A policy.
    ///
    /// - Parameters:
    ///   - maxAttempts: the most attempts in all, the first one included; 3 by default.
    ///   - backoff: how long to wait between attempts; by default up to 0.2 s, 0.4 s, 0.8 s and so on, with full jitter.
    ///   - condition: which answers are worth another attempt.
    ///   - retryAfter: what `Retry-After` counts for; by default it is waited for up to a minute, and a longer one ends the attempts.
    public init(
        maxAttempts: Int = 3,
        backoff: Backoff = .exponential(),
        condition: RetryCondition = .standard,
        retryAfter: RetryAfterRule = .refused(over: .seconds(60))
    ) {
        self.maxAttempts = maxAttempts
        self.backoff = backoff
        self.condition = condition
        self.retryAfter = retryAfter
    }

    /// What to do after an attempt.
    ///
    /// - Parameters:
    ///   - attempt: its number, from 1.
    ///   - answer: what came of it.
    ///   - request: the request as it would be sent again.
    ///   - random: where jitter gets its chance from.
    ///   - now: the wall clock's time, for a `Retry-After` that is a date.
    public func decision(
        after attempt: Int,
        _ answer: Result<HTTPResponse, any Error>,
        to request: HTTPRequest,
        random: RandomSource,
        now: @autoclosure () -> Date
    ) -> RetryDecision {
        guard condition.matches(answer, to: request) else { return .accept }
        guard attempt < maxAttempts else { return .stop(.attemptsUsedUp) }
        guard request.body.isReadable else { return .stop(.bodyNotReplayable) }
        guard Self.isSafe(request, after: answer) else { return .stop(.notIdempotent) }
        let backoff = backoff.duration(after: attempt, random: random)
        guard let response = answer.answered,
            retryAfter.limit > .zero || retryAfter.excess == .refused,
            let asked = RetryAfter.wait(in: response, now: now())
        else { return .retry(after: backoff) }
        if asked == .zero { return .retry(after: .zero) }
        if asked > retryAfter.limit, retryAfter.excess == .refused { return .stop(.retryAfterTooLong) }
        return .retry(after: max(backoff, min(asked, retryAfter.limit)))
    }

    static func isSafe(_ request: HTTPRequest, after answer: Result<HTTPResponse, any Error>) -> Bool {
        if request.context.isIdempotent
            ?? (request.method.isIdempotent || request.headerFields.contains(.idempotencyKey))
        {
            return true
        }
        // After a redirect that changed the method the answer is no longer one to this request, which was acted on.
        if answer.hasChangedMethod { return false }
        if let response = answer.answered {
            switch response.status.code {
            case 408, 421, 425, 429: return true
            case 413, 503: return response.headerFields.contains(.retryAfter)
            default: return false
            }
        }
        guard case .failure(let error) = answer else { return false }
        return UnsentError.isCertain(after: error, of: request.method)
    }
}

/// What a ``RetryPolicy`` decides.
public enum RetryDecision: Sendable, Hashable {
    /// The answer goes to the caller.
    case accept
    /// The answer would be worth another attempt, but goes to the caller all the same.
    case stop(RetryStop)
    /// To try again after a wait.
    case retry(after: Duration)
}

extension RetryPolicy {
    /// Waits that grow exponentially, with full jitter: see ``Backoff/exponential(base:factor:cap:hasJitter:)``.
    public static func exponential(
        maxAttempts: Int = 3,
        base: Duration = .milliseconds(200),
        cap: Duration = .seconds(20),
        condition: RetryCondition = .standard
    ) -> Self {
        Self(maxAttempts: maxAttempts, backoff: .exponential(base: base, cap: cap), condition: condition)
    }

    /// The same wait each time.
    public static func constant(
        _ wait: Duration,
        maxAttempts: Int = 3,
        condition: RetryCondition = .standard
    ) -> Self {
        Self(maxAttempts: maxAttempts, backoff: .constant(wait), condition: condition)
    }

    /// Waits that a closure decides: it is given the number of the attempt that has failed, from 1, and the source of chance.
    public static func custom(
        maxAttempts: Int = 3,
        condition: RetryCondition = .standard,
        wait: @escaping @Sendable (_ attempt: Int, _ random: RandomSource) -> Duration
    ) -> Self {
        Self(maxAttempts: maxAttempts, backoff: .custom(wait), condition: condition)
    }
}
