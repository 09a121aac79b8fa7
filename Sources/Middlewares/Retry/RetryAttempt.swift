/// One attempt of a call that was, or might have been, tried again.
public struct RetryAttempt: Sendable {
    /// Its number, from 1.
    public let number: Int
    /// The status of its response; `nil` if there was none.
    public let status: HTTPResponse.Status?
    /// Why there was no response, or what an interceptor inside has made of it; `nil` otherwise.
    public let error: (any Error)?
    /// How long was waited before the next attempt; `nil` if there was none.
    public internal(set) var wait: Duration?
    /// Why there was no next attempt although the answer was worth one; `nil` if there was one, or if the answer was good.
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
    /// Such as `attempt 1: 503 Service Unavailable, next after 0.2 seconds`, without secrets.
    public var description: String {
        let status = status.map { PrintableText.line($0.description) }
        let answer =
            switch error {
            case nil, is StatusError: status ?? "-"
            case let error as TransportError: "TransportError.\(error.code)"
            case let error?: "\(type(of: error))" + (status.map { " (\($0))" } ?? "")
            }
        let text = "attempt \(number): \(answer)"
        if let wait { return text + ", next after \(wait)" }
        return stop.map { text + ", not tried again: \($0)" } ?? text
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["attempt": description]) }
}

/// Why no other attempt was made. An open set: handle the ones you know, and keep a default.
public struct RetryStop: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The name of the reason, such as `attemptsUsedUp`.
    public let rawValue: String
    /// A reason by its name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The name of the reason.
    public var description: String { rawValue }

    /// It was the last attempt that the policy allows.
    public static let attemptsUsedUp = Self(rawValue: "attemptsUsedUp")
    /// The server may have acted on the request, and acting twice is not the same as acting once.
    public static let notIdempotent = Self(rawValue: "notIdempotent")
    /// The body is a one-shot stream that was used up.
    public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
    /// The server asks for a longer wait than the policy grants.
    public static let retryAfterTooLong = Self(rawValue: "retryAfterTooLong")
    /// The deadline of the call would have passed before the next attempt.
    public static let deadline = Self(rawValue: "deadline")
    /// The shared budget of retries is used up.
    public static let budgetUsedUp = Self(rawValue: "budgetUsedUp")
    /// The call was cancelled, or its time was up, before there was an answer.
    public static let cancelled = Self(rawValue: "cancelled")
}

extension HTTPContext {
    private enum AttemptsKey: HTTPContextKey { static var defaultValue: [RetryAttempt] { [] } }
    private enum RetrySafetyKey: HTTPContextKey { static var defaultValue: Bool? { nil } }

    /// On a response or an error (``ContextualError``): the attempts that `retry` made, the first one first. Empty where the
    /// first answer needed no other.
    public var attempts: [RetryAttempt] {
        get { self[AttemptsKey.self] }
        set { self[AttemptsKey.self] = newValue }
    }

    /// On a request: whether sending it several times has the effect of sending it once; `nil` for what its method and its
    /// fields say (RFC 9110 §9.2.2).
    public var isIdempotent: Bool? {
        get { self[RetrySafetyKey.self] }
        set { self[RetrySafetyKey.self] = newValue }
    }
}

extension Result where Success == HTTPResponse, Failure == any Error {
    /// The answer, with the attempts that led to it in its context, where it has one.
    func get(after attempts: [RetryAttempt]) throws -> HTTPResponse {
        switch self {
        case .success(var response):
            if !attempts.isEmpty { response.context.attempts = attempts }
            return response
        case .failure(let error):
            guard !attempts.isEmpty, var contextual = error as? any ContextualError else { throw error }
            contextual.context.attempts = attempts
            throw contextual
        }
    }
}
