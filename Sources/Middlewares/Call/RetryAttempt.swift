/// A record of one attempt of a call that `retry` repeated, or would have repeated if its policy had allowed.
public struct RetryAttempt: Sendable {
    /// The attempt's number, counted from 1.
    public let number: Int
    /// The status of the response, also if an inner interceptor turned that response into an error; `nil` without a response.
    public let status: HTTPResponse.Status?
    /// The error that the attempt ended with; `nil` if it returned a response.
    public let error: (any Error)?
    /// The wait before the next attempt; `nil` if no attempt followed.
    public internal(set) var wait: Duration?
    /// The reason no attempt followed, although the outcome met the policy's condition; `nil` otherwise.
    public internal(set) var stop: RetryStop?

    init(number: Int, answer: Result<HTTPResponse, any Error>, wait: Duration? = nil, stop: RetryStop? = nil) {
        self.number = number
        status = answer.answered?.status
        error = if case .failure(let failure) = answer { failure } else { nil }
        self.wait = wait
        self.stop = stop
    }
}

extension RetryAttempt: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The attempt on one line, without secrets, such as `attempt 1: 503 Service Unavailable, next after 0.2 seconds`.
    public var description: String {
        let text = "attempt \(number): \(outcome)"
        if let wait { return text + ", next after \(wait)" }
        return stop.map { text + ", not tried again: \($0)" } ?? text
    }

    fileprivate var outcome: String {
        let status = status.map { PrintableText.line($0.description) }
        return switch error {
        case nil: status ?? "-"
        case let error as any HTTPError: error.qualifiedCode + (status.map { " (\($0))" } ?? "")
        case let error?: "\(type(of: error))"
        }
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror of ``description``, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["attempt": description]) }
}

/// The attempts of a call, for the description of its error.
private struct RetryAttempts: ContextNote {
    var all: [RetryAttempt] = []

    var note: String? {
        guard let last = all.last else { return nil }
        let outcomes = all.map { $0.status.map { "\($0.code)" } ?? $0.outcome }
        let stop = last.stop.map { ", not tried again: \($0)" } ?? ""
        return "After \(all.count == 1 ? "1 attempt" : "\(all.count) attempts") (\(outcomes.shortened(", ")))\(stop)."
    }
}

extension HTTPError {
    /// How often the chain tried to send the request: 1 unless `retry` repeated it. ``HTTPContext/attempts`` describes each
    /// attempt.
    ///
    /// An attempt counts even if it sent nothing: see `HTTPError.sentNothing`.
    public var attempts: Int { max(1, context.attempts.count) }
}

/// The reason a call was not retried. An open set: handle the reasons you know, and keep a default.
public struct RetryStop: OpenSet {
    /// The name of the reason, such as `attemptsUsedUp`.
    public let rawValue: String
    /// Creates a reason from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The policy's maximum number of attempts was reached.
    public static let attemptsUsedUp = Self(rawValue: "attemptsUsedUp")
    /// The request isn't idempotent, and the server may already have acted on it.
    public static let notIdempotent = Self(rawValue: "notIdempotent")
    /// The body is a one-shot stream that was already read.
    public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
    /// The server asks for a longer wait than the policy allows.
    public static let retryAfterTooLong = Self(rawValue: "retryAfterTooLong")
    /// The call's deadline leaves no time for another attempt.
    public static let deadline = Self(rawValue: "deadline")
    /// The shared ``RetryBudget`` has no retry left.
    public static let budgetUsedUp = Self(rawValue: "budgetUsedUp")
    /// The call was cancelled or timed out before the attempt ended.
    public static let cancelled = Self(rawValue: "cancelled")
}

extension HTTPContext {
    private enum AttemptsKey: HTTPContextKey { static var defaultValue: RetryAttempts { RetryAttempts() } }

    /// On a response or an error (``HTTPError``): the attempts that `retry` made, in order. Empty if the first outcome
    /// was accepted.
    public var attempts: [RetryAttempt] {
        get { self[AttemptsKey.self].all }
        set { self[AttemptsKey.self] = RetryAttempts(all: newValue) }
    }

    /// On a request: whether sending it several times has the same effect as sending it once. `nil` to decide by its method and
    /// its `Idempotency-Key` field (RFC 9110 §9.2.2).
    public var isIdempotent: Bool? {
        get { declaredIdempotency }
        set { declaredIdempotency = newValue }
    }
}

extension HTTPRequest {
    /// Whether sending the request several times has the same effect as sending it once.
    ///
    /// Never if its shape forbids to send it again.
    var isIdempotent: Bool {
        guard context.callShape.mayResend else { return false }
        return context.isIdempotent ?? (method.isIdempotent || headers.contains(.idempotencyKey))
    }
}

extension Result where Success == HTTPResponse, Failure == any Error {
    /// Returns the response or throws the error, with the attempts in its context if it has one.
    @inline(never)
    func get(after attempts: [RetryAttempt]) throws -> HTTPResponse {
        switch self {
        case .success(var response):
            if !attempts.isEmpty { response.context.attempts = attempts }
            return response
        case .failure(let error):
            guard !attempts.isEmpty, var contextual = error as? any HTTPError else { throw error }
            contextual.context.attempts = attempts
            throw contextual
        }
    }
}
