/// Whether requests to an origin are sent.
public enum CircuitState: String, Sendable, CaseIterable, CustomStringConvertible {
    /// Requests are sent.
    case closed
    /// Requests are refused for some time.
    case open
    /// A few requests are sent as probes; others are refused.
    case halfOpen

    /// The name of the state, such as `halfOpen`.
    public var description: String { rawValue }
}

/// A change of a circuit's state.
public struct CircuitChange: Sendable, Hashable, CustomStringConvertible {
    /// The scheme, host and port that the circuit belongs to.
    public let origin: Origin
    /// The state before the change.
    public let from: CircuitState
    /// The state after the change.
    public let to: CircuitState

    /// The change on one line, such as `https://api.example.com:443: closed -> open`.
    public var description: String { "\(origin): \(from) -> \(to)" }
}

/// The meaning of an outcome for the health of the host.
public enum CircuitVerdict: Sendable, Hashable, CaseIterable {
    /// The host works.
    case success
    /// The host failed.
    case failure
    /// The outcome says nothing about the host: the request never got there, or failed for a reason on the client's side.
    case ignored

    /// The default verdict on an outcome.
    ///
    /// - **Failures**: the statuses 500, 502, 503 and 504, and a ``TransportError`` with `cannotFindHost`, `cannotConnect`,
    ///   `tlsFailed`, `connectionLost`, `timedOut`, `truncated` or `invalidResponse`.
    /// - **Successes**: all other responses.
    /// - **Ignored**: all other errors, and the `timedOut` of a request that wasn't sent before its deadline because it waited
    ///   in `limitConcurrency` or `rateLimit`.
    ///
    /// A response counts by its status even if an inner interceptor such as `validateStatus` turned it into an error.
    public static func standard(_ answer: Result<HTTPResponse, any Error>) -> CircuitVerdict {
        if let response = answer.answered { return failures.contains(response.status.code) ? .failure : .success }
        guard case .failure(let error as TransportError) = answer else { return .ignored }
        return codes.contains(error.code) && !UnsentError.isCause(of: error) ? .failure : .ignored
    }

    private static let failures: Set<Int> = [500, 502, 503, 504]
    private static let codes: Set<TransportError.Code> = [
        .cannotFindHost, .cannotConnect, .tlsFailed, .connectionLost, .timedOut, .truncated, .invalidResponse,
    ]
}
