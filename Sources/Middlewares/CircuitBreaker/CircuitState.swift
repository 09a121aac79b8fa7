/// Whether requests to a host go.
public enum CircuitState: String, Sendable, CaseIterable, CustomStringConvertible {
    /// They go.
    case closed
    /// They are refused, until some time has passed.
    case open
    /// A few go as probes; the others are refused.
    case halfOpen

    /// The name of the state.
    public var description: String { rawValue }
}

/// A change of the state of a circuit.
public struct CircuitChange: Sendable, Hashable, CustomStringConvertible {
    /// The host, told by scheme, host and port.
    public let origin: Origin
    /// The state before.
    public let from: CircuitState
    /// The state now.
    public let to: CircuitState

    /// Such as `https://api.example.com:443: closed -> open`.
    public var description: String { "\(origin): \(from) -> \(to)" }
}

/// What an answer says about the host.
public enum CircuitVerdict: Sendable, Hashable, CaseIterable {
    /// It works.
    case success
    /// It doesn't.
    case failure
    /// Nothing: the request never got there, or ended for a reason of our own.
    case ignored

    /// The usual verdict. Failures are the statuses 500, 502, 503 and 504, and a ``TransportError`` with `cannotFindHost`,
    /// `cannotConnect`, `tlsFailed`, `connectionLost`, `timedOut`, `truncated` or `invalidResponse`; any other response is a
    /// success, also where an interceptor inside has made an error of it, as `validateStatus` does; and any other error is ignored, as is the `timedOut` of a request that had not been sent by its deadline,
    /// because it waited in `limitConcurrency` or `rateLimit`.
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
