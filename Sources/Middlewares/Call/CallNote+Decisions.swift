internal import InterceptorsCore

// The notes of this module's interceptors. The names of decisions are part of what a journal's readers rely on.
extension CallNote {
    /// The request is sent again after a wait.
    static func retry(after wait: Duration, _ cause: String) -> Self {
        Self("retry", wait > .zero ? "again after \(wait.logged), because \(cause)" : "again at once, because \(cause)")
    }

    /// The request isn't sent again, although its outcome was worth another attempt.
    static func notRetried(_ stop: RetryStop, _ cause: String) -> Self {
        let reason: String =
            switch stop {
            case .attemptsUsedUp: "the attempts are used up"
            case .notIdempotent: "the request isn't idempotent, and the server may have acted on it"
            case .bodyNotReplayable: "the body is a one-shot stream that was read"
            case .retryAfterTooLong: "the server asks for a longer wait than the policy allows"
            case .deadline: "the deadline leaves no time"
            case .budgetUsedUp: "the budget of retries is used up"
            case .cancelled: "the call was cancelled"
            default: stop.rawValue
            }
        return Self("notRetried", "\(cause), and \(reason)")
    }

    static func notWorthRetrying(_ cause: String) -> Self {
        Self("notRetried", "\(cause), which the policy doesn't repeat")
    }

    // MARK: Credentials

    static func refresh(_ cause: String, isJoined: Bool) -> Self {
        isJoined
            ? Self("refreshJoined", "waits for the running refresh, because \(cause)")
            : Self("refreshBegun", "renews the credential, because \(cause)")
    }

    static let sentAgain = Self("sentAgain", "with the new credential")

    static func notRefreshed(_ reason: String) -> Self { Self("notRefreshed", reason) }

    static func tokenWithheld(_ reason: String) -> Self { Self("tokenWithheld", reason) }

    // MARK: Cache

    static func cache(_ outcome: CacheOutcome) -> Self {
        let decision =
            switch outcome.result {
            case .hit: "cacheHit"
            case .stale: "cacheStale"
            case .revalidated: "cacheRevalidated"
            case .unsatisfiable: "cacheUnsatisfiable"
            default: "cacheMiss"
            }
        var parts: [String] = []
        if let age = outcome.age { parts.append("age \(age.logged)") }
        if let reason = outcome.staleReason { parts.append("served stale: \(reason)") }
        if let reason = outcome.forwardReason { parts.append("asked the server: \(reason)") }
        if outcome.storing != .unchanged { parts.append("\(outcome.storing)") }
        return Self(decision, parts.joined(separator: ", "))
    }

    static let revalidatesInBackground = Self("revalidatesInBackground", "asks the server after a stale response")

    // MARK: Redirects

    static func redirect(_ redirect: Redirect) -> Self { Self("redirect", "\(redirect)") }

    static func redirectStopped(_ redirect: Redirect) -> Self {
        Self("redirectStopped", "the policy doesn't follow \(redirect)")
    }

    static func credentialsDropped(_ names: [String]) -> Self {
        Self("credentialsDropped", "another origin doesn't get \(names.joined(separator: ", "))")
    }

    // MARK: Time and the network

    static func waitedForNetwork(_ wait: NetworkWait) -> Self {
        let time = wait.duration.logged
        let text = wait.isSatisfied ? "a network came after \(time)" : "none that it may use came within \(time)"
        return Self("waitedForNetwork", text)
    }

    static func deadline(_ remaining: Duration) -> Self { Self("deadline", "\(max(.zero, remaining).logged) are left") }

    static func timedOut(_ message: String) -> Self { Self("timedOut", message) }

    // MARK: Content

    static let envelopeOpened = Self("envelopeOpened", "the payload replaces the envelope")

    static func envelopeRefused(_ reason: String) -> Self { Self("envelopeRefused", reason) }

    static func compressed(from size: Int64?, to compressed: Int64?) -> Self {
        guard let size, let compressed else { return Self("compressed", "gzip, while it is sent") }
        return Self("compressed", "gzip, from \(size) to \(compressed) bytes")
    }
}

extension Result where Success == HTTPResponse, Failure == any Error {
    /// Why an interceptor decided as it did, as part of a sentence: the status of an outcome, or its error if there is no response.
    var cause: String {
        if let response = answered { return "the status was \(response.status.code)" }
        guard case .failure(let error) = self else { return "its outcome was refused" }
        return "it failed with \((error as? any HTTPError)?.qualifiedCode ?? "\(type(of: error))")"
    }

    /// Whether it is an error, or a response with a status of 400 or more.
    var isFailure: Bool {
        switch self {
        case .success(let response): response.status.code >= 400
        case .failure: true
        }
    }
}
