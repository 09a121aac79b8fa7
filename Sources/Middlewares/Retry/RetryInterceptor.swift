public import Foundation

/// Sends a request again when its answer is worth another attempt.
///
/// ```swift
/// interceptors: [
///     .timeout(.seconds(30)),                             // of all attempts, and the waits between them
///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
///     .retry(.exponential(maxAttempts: 3)),
///     .timeout(.seconds(10)),                             // of one attempt
/// ]
/// ```
/// Its place is inside of what must stay the same over all attempts (transaction ID, token, deadline, cache) and outside of
/// what must be made anew for each (signatures with a date, a timeout of each, logging of what goes over the wire). Inside
/// `retryOnUnauthorized` each token gets attempts of its own; outside of it a refresh that fails can be tried again.
///
/// - What is sent again is the request as it came here. Which and when, ``RetryPolicy`` decides: by default nothing that is
///   not idempotent and may have been acted on.
/// - The last answer is the caller's, a response with its status or an error, unchanged but for its context: that says what
///   was tried and why it ended (``HTTPContext/attempts``), also on an error that is a ``ContextualError``.
/// - The body of a response that is thrown away is discarded before the wait.
/// - No attempt is begun that the deadline (``HTTPContext/deadline``) leaves no time for.
/// - Cancelling the task ends a wait at once with `CancellationError`, which is never tried again.
///
/// ```swift
/// let user: User = try await api.get("/users/42")         // GET: by itself
/// var request = HTTPRequest(method: .post, url: url, body: order)
/// request.headerFields[.idempotencyKey] = orderID         // POST: with a key that the server knows what to do with
/// ```
public struct RetryInterceptor: Interceptor {
    private let policy: RetryPolicy
    private let budget: RetryBudget?
    private let makeKey: (@Sendable () -> String)?
    private let clock: any Clock<Duration>
    private let random: RandomSource
    private let now: @Sendable () -> Date

    /// An interceptor that tries again.
    ///
    /// - Parameters:
    ///   - policy: what is tried again, how often, and after which wait.
    ///   - budget: a limit for the retries of many requests together; none by default.
    ///   - idempotencyKey: makes a key for each request that is not idempotent and has none, sent as `Idempotency-Key`, the
    ///     same with every attempt. Only for servers that recognise it: it makes such requests be sent again.
    ///   - clock: what the waits are measured by.
    ///   - random: where jitter gets its chance from.
    ///   - now: the wall clock that dates in `Retry-After` are compared with.
    public init(
        _ policy: RetryPolicy = RetryPolicy(),
        budget: RetryBudget? = nil,
        idempotencyKey: (@Sendable () -> String)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        random: RandomSource = .system,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.policy = policy
        self.budget = budget
        makeKey = idempotencyKey
        self.clock = clock
        self.random = random
        self.now = now
    }

    /// Passes the request on until its answer is good, or not to be had.
    ///
    /// - Throws: what the last attempt threw; `CancellationError`.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        addKey(to: &request)
        budget?.deposit()
        let notes = request.context.interruptionNotes
        // Those of each attempt are its own.
        if notes != nil { request.context.interruptionNotes = nil }
        var attempts: [RetryAttempt] = []
        while true {
            let number = attempts.count + 1
            let answer: Result<HTTPResponse, any Error>
            do {
                let response = try await next(copy request)
                if attempts.isEmpty, !policy.condition.mayMatch(response.status) { return response }
                answer = .success(response)
            } catch {
                answer = .failure(error)
            }
            // A cancelled call is not a failed one, whatever it is that its cancellation made fail.
            if case .failure = answer, Task.isCancelled {
                attempts.append(RetryAttempt(number: number, answer: .failure(CancellationError()), stop: .cancelled))
                notes?.change { $0.attempts = attempts }
                throw CancellationError()
            }
            switch decision(after: number, answer, to: request) {
            case .accept:
                if !attempts.isEmpty { attempts.append(RetryAttempt(number: number, answer: answer)) }
                return try answer.get(after: attempts)
            case .stop(let reason):
                attempts.append(RetryAttempt(number: number, answer: answer, stop: reason))
                return try answer.get(after: attempts)
            case .retry(let wait):
                if case .success(let response) = answer { response.body.discard() }
                attempts.append(RetryAttempt(number: number, answer: answer, wait: wait))
                do {
                    if wait > .zero { try await clock.sleep(for: wait) }
                    try Task.checkCancellation()
                } catch {
                    notes?.change { $0.attempts = attempts }
                    throw error
                }
            }
        }
    }

    private func decision(
        after attempt: Int,
        _ answer: Result<HTTPResponse, any Error>,
        to request: borrowing HTTPRequest
    ) -> RetryDecision {
        let decision = policy.decision(after: attempt, answer, to: copy request, random: random, now: now())
        guard case .retry(let wait) = decision else { return decision }
        if let deadline = request.context.deadline {
            // Who was refused because its turn would come too late would be refused again.
            let turn =
                if case .failure(let error) = answer { UnsentError.cause(of: error)?.wait } else { nil as Duration? }
            if deadline.remaining <= max(wait, turn ?? .zero) { return .stop(.deadline) }
        }
        if let budget, !budget.withdraw() { return .stop(.budgetUsedUp) }
        return decision
    }

    private func addKey(to request: inout HTTPRequest) {
        guard let makeKey, !request.method.isIdempotent, !request.headerFields.contains(.idempotencyKey) else { return }
        request.headerFields.append(.idempotencyKey, makeKey())
    }
}

extension Interceptor where Self == RetryInterceptor {
    /// Sends a request again when its answer is worth another attempt: see ``RetryInterceptor``.
    ///
    /// - Parameters:
    ///   - policy: what is tried again, how often, and after which wait.
    ///   - budget: a limit for the retries of many requests together; none by default.
    ///   - idempotencyKey: makes a key for each request that is not idempotent and has none; none by default.
    ///   - clock: what the waits are measured by.
    ///   - random: where jitter gets its chance from.
    ///   - now: the wall clock that dates in `Retry-After` are compared with.
    public static func retry(
        _ policy: RetryPolicy = RetryPolicy(),
        budget: RetryBudget? = nil,
        idempotencyKey: (@Sendable () -> String)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        random: RandomSource = .system,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> Self {
        Self(policy, budget: budget, idempotencyKey: idempotencyKey, clock: clock, random: random, now: now)
    }
}
