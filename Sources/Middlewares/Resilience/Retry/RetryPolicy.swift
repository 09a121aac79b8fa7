internal import Foundation

/// The rules for retries.
///
/// ```swift
/// .retry(maxAttempts: 3)                              // three attempts
/// .retry(.exponential(maxAttempts: 5, base: .seconds(1)))
/// .retry(.constant(.seconds(1), maxAttempts: 5, condition: .status(409)))
/// .retry(.custom(maxAttempts: 4) { attempt, _ in .seconds(attempt * attempt) })
/// ```
/// ## When a request may be sent again
/// An idempotent request (RFC 9110 §9.2.2) may always be sent again. A request is idempotent by its method, by an
/// `Idempotency-Key` field, or because its context says so (``InterceptorsTransport/HTTPContext/isIdempotent``), which overrides the other two.
///
/// Any other request may be sent again only if the server certainly didn't act on it:
/// - The response is a 408, 421, 425 or 429, or a 413 or 503 with a `Retry-After`.
/// - Nothing was sent: there was no connection, a limit passed while the request waited for a permit or for one of the
///   transport's own connections, or `limitConcurrency`, `rateLimit`, `circuitBreaker`, `sign` or your own interceptor refused
///   the request (`HTTPError.sentNothing`). A failure of TLS, and a limit that passed while connecting, count only with
///   `CurlTransport`, which knows that it hadn't sent anything yet. A server may also refuse a client certificate later.
///
/// Neither case applies after an inner interceptor followed a redirect that changed the method, because the server acted on
/// the original request. A request whose body is a one-shot stream that was already read is never sent again.
///
/// ## How long it waits
/// The wait is the longer of the backoff and the time the server asks for: by `Retry-After`, by `Retry-After-Ms`, or, after a
/// 429, by `RateLimit-Reset` or `X-RateLimit-Reset`. If the server asks for no wait (`Retry-After: 0`), the next attempt
/// starts at once. If the server asks for a longer wait than the policy allows, the call isn't retried.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first; 1 for no retry.
    public var maxAttempts: Int
    /// The outcomes that are worth another attempt.
    public var condition: OutcomeCondition
    /// The longest wait that a server may ask for, a minute by default. A call whose server asks for more isn't retried.
    public var maxRetryAfter: Duration = RetryAfter.usualLimit
    private let backoff: @Sendable (_ attempt: Int, _ random: RandomSource) -> Duration

    /// The wait after an attempt if the server asks for none, from zero to about thirty years.
    func wait(after attempt: Int, random: RandomSource) -> Duration {
        min(max(.zero, backoff(attempt, random)), Stopwatch.farthest)
    }

    /// Decides how to proceed after an attempt.
    ///
    /// - Parameters:
    ///   - attempt: the attempt's number, counted from 1.
    ///   - answer: the outcome of the attempt.
    ///   - request: the request as it would be sent again.
    ///   - random: the source of jitter.
    ///   - now: the wall clock's time, against which a date in `Retry-After` is compared.
    func decision(
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
        let backoff = wait(after: attempt, random: random)
        guard let response = answer.answered, let asked = RetryAfter.wait(in: response, now: now()) else {
            return .retry(after: backoff)
        }
        if asked == .zero { return .retry(after: .zero) }
        return asked > maxRetryAfter ? .stop(.retryAfterTooLong) : .retry(after: max(backoff, asked))
    }

    static func isSafe(_ request: HTTPRequest, after answer: Result<HTTPResponse, any Error>) -> Bool {
        if request.isIdempotent { return true }
        let shape = request.context.callShape
        if shape.hasTakenEffect?() == true { return false }
        // The outcome is that of the redirected request; the server acted on the original one.
        if answer.hasChangedMethod || answer.mayHaveActed(on: request) { return false }
        if let response = answer.answered, shape.refusalMeansNothingKept {
            switch response.status.code {
            case 408, 421, 425, 429: return true
            case 413, 503: return response.headers.contains(.retryAfter)
            default: return false
            }
        }
        guard case .failure(let error) = answer else { return false }
        return UnsentError.isCertain(after: error, of: request)
    }
}

/// The decision of a ``RetryPolicy`` after an attempt.
enum RetryDecision: Sendable, Hashable {
    /// The outcome doesn't meet the condition; the caller gets it.
    case accept
    /// The outcome meets the condition, but no further attempt is allowed; the caller gets it.
    case stop(RetryStop)
    /// Try again after a wait.
    case retry(after: Duration)
}

extension RetryPolicy {
    /// A policy with exponential backoff and full jitter: a uniformly random wait up to a maximum, which is `base` after the first
    /// attempt and doubles after each further one, up to `cap`.
    ///
    /// Full jitter spreads clients that failed at the same moment more evenly than other kinds of jitter (Brooker: Exponential
    /// Backoff And Jitter, 2015).
    ///
    /// - Parameters:
    ///   - maxAttempts: the maximum number of attempts, including the first; 3 by default.
    ///   - base: the maximum wait after the first attempt; 0.2 s by default.
    ///   - cap: the upper limit of every wait; 20 s by default.
    ///   - condition: the outcomes that are worth another attempt.
    public static func exponential(
        maxAttempts: Int = 3,
        base: Duration = .milliseconds(200),
        cap: Duration = .seconds(20),
        condition: OutcomeCondition = .temporaryFailure
    ) -> Self {
        custom(maxAttempts: maxAttempts, condition: condition) { attempt, random in
            let growth = exp2(Double(min(max(1, attempt), 128) - 1))
            // Bounded at both ends, because a duration of more seconds would trap.
            let longest = min(cap / .seconds(1), base / .seconds(1) * growth, Stopwatch.farthest / .seconds(1))
            return .seconds(random.unit() * max(0, longest))
        }
    }

    /// A policy with the same wait after every attempt.
    ///
    /// - Parameters:
    ///   - wait: the wait.
    ///   - maxAttempts: the maximum number of attempts, including the first.
    ///   - condition: the outcomes that are worth another attempt.
    public static func constant(
        _ wait: Duration,
        maxAttempts: Int = 3,
        condition: OutcomeCondition = .temporaryFailure
    ) -> Self {
        custom(maxAttempts: maxAttempts, condition: condition) { _, _ in wait }
    }

    /// A policy whose waits a closure computes. A negative wait counts as zero.
    ///
    /// - Parameters:
    ///   - maxAttempts: the maximum number of attempts, including the first.
    ///   - condition: the outcomes that are worth another attempt.
    ///   - wait: computes the wait from the number of the failed attempt, counted from 1, and the random source.
    public static func custom(
        maxAttempts: Int = 3,
        condition: OutcomeCondition = .temporaryFailure,
        wait: @escaping @Sendable (_ attempt: Int, _ random: RandomSource) -> Duration
    ) -> Self {
        Self(maxAttempts: maxAttempts, condition: condition, backoff: wait)
    }
}
