/// A set of outcomes of a request, by status, error or a closure.
///
/// ```swift
/// .retry(maxAttempts: 3, when: .temporaryFailure || .status(409))
/// .retryOnUnauthorized(tokens, when: .status(401, 419) || .error(EnvelopeError.self) { $0.serverCode == 1001 })
/// .circuitBreaker(.consecutiveFailures(5), failures: .hostFailure || .status(507))
/// ```
/// `retry` repeats these outcomes, `retryOnUnauthorized` takes them for a rejected credential, and `circuitBreaker` for a
/// failure of the host. A cancellation never matches.
public struct OutcomeCondition: Sendable {
    // Nearly every outcome is checked, so a check by status costs little.
    private var statuses: [Int] = []
    private var statusesWithRetryAfter: [Int] = []
    private var errors: [@Sendable (any Error) -> Bool] = []
    private var others: [@Sendable (HTTPRequest, Result<HTTPResponse, any Error>) -> Bool] = []

    /// Failures that are usually temporary, the default of `retry`: the statuses 408, 429, 500, 502, 503 and 504, a 413 with
    /// `Retry-After` (RFC 9110 §15.5.14), and an error with the ``code(_:)`` `offline`, `cannotFindHost`, `cannotConnect`,
    /// `connectionLost`, `timedOut` or `truncated`.
    public static let temporaryFailure = Self(
        statuses: [408, 429] + HTTPResponse.Status.serverFailures.map(\.code),
        statusesWithRetryAfter: [413],
        errors: [{ $0.isOrIsCausedBy(.brokenExchanges) }]
    )

    /// Failures of the host, the default of `circuitBreaker`: the statuses 500, 502, 503 and 504, and an error with the
    /// ``code(_:)`` `offline`, `cannotFindHost`, `cannotConnect`, `tlsFailed`, `connectionLost`, `timedOut`, `truncated` or
    /// `invalidResponse`. The `timedOut` of a request that waited in `limitConcurrency`, in `rateLimit` or in the line of
    /// `CurlTransport` doesn't match, because it says nothing about the host.
    public static let hostFailure = Self(
        statuses: HTTPResponse.Status.serverFailures.map(\.code),
        errors: [{ $0.isOrIsCausedBy(hostFailures) && !UnsentError.isCause(of: $0) }]
    )

    private static let hostFailures: Set<HTTPErrorCode> = .brokenExchanges.union([.tlsFailed, .invalidResponse])

    /// Outcomes for which a closure returns `true`, from the request and the outcome of the rest of the chain.
    ///
    /// The closure must not consume the response's body, but may look at `HTTPBody.data` of a buffered one. The closure
    /// never sees cancellations.
    public static func outcome(
        where isMet: @escaping @Sendable (HTTPRequest, Result<HTTPResponse, any Error>) -> Bool
    ) -> Self {
        Self(others: [isMet])
    }

    /// A response with one of these statuses, or an error that an inner interceptor made from such a response
    /// (`HTTPError.response`).
    public static func status(_ statuses: HTTPResponse.Status...) -> Self {
        Self(statuses: statuses.map(\.code))
    }

    /// An error with one of these codes, or an error that such an error caused (`HTTPError.underlying`). The type of the error
    /// doesn't matter.
    ///
    /// ```swift
    /// .retry(maxAttempts: 3, when: .temporaryFailure || .code(.tlsFailed, .queueFull))
    /// ```
    public static func code(_ codes: HTTPErrorCode...) -> Self {
        let codes = Set(codes)
        return Self(errors: [{ $0.isOrIsCausedBy(codes) }])
    }

    /// An error of this type, thrown by the rest of the chain, such as the error of `unwrapEnvelope`. Its causes don't count.
    ///
    /// - Parameters:
    ///   - type: the type of the error.
    ///   - isMet: selects the errors that match; by default all.
    public static func error<Failure: Error>(
        _ type: Failure.Type,
        where isMet: @escaping @Sendable (Failure) -> Bool = { _ in true }
    ) -> Self {
        Self(errors: [{ ($0 as? Failure).map(isMet) ?? false }])
    }

    /// A condition that matches if either of two conditions does. The order in which they are checked isn't specified, nor is
    /// whether both are.
    public static func || (left: Self, right: Self) -> Self {
        Self(
            statuses: left.statuses + right.statuses,
            statusesWithRetryAfter: left.statusesWithRetryAfter + right.statusesWithRetryAfter,
            errors: left.errors + right.errors,
            others: left.others + right.others
        )
    }

    /// Whether a 401 matches, as far as statuses decide and not closures.
    var includesUnauthorized: Bool { hasStatus(of: HTTPResponse(status: 401)) }

    /// The statuses that match, with 0 for a failed connection; `nil` if closures decide.
    var knownOutcomes: Set<Int>? {
        guard others.isEmpty else { return nil }
        let codes = Set<HTTPErrorCode>.brokenExchanges.union([.tlsFailed])
        let isConnection = codes.contains { code in errors.contains { $0(TransportError(code, "…")) } }
        return Set(statuses + statusesWithRetryAfter + (isConnection ? [0] : []))
    }

    private func hasStatus(of response: HTTPResponse) -> Bool {
        statuses.contains(response.status.code)
            || statusesWithRetryAfter.contains(response.status.code) && response.headers.contains(.retryAfter)
    }

    /// Whether the outcome of a request matches. A cancellation never does.
    public func matches(_ outcome: Result<HTTPResponse, any Error>, to request: borrowing HTTPRequest) -> Bool {
        switch outcome {
        case .success(let response): if hasStatus(of: response) { return true }
        case .failure(is CancellationError): return false
        case .failure(let error):
            if let response = error.receivedResponse, hasStatus(of: response) { return true }
            if errors.contains(where: { $0(error) }) { return true }
        }
        guard !others.isEmpty else { return false }
        let request = copy request
        return others.contains { $0(request, outcome) }
    }
}

extension HTTPResponse.Status {
    /// A server or a gateway failed, whatever the request.
    static let serverFailures: [Self] = [500, 502, 503, 504]
}

extension Set<HTTPErrorCode> {
    /// The network, the host, the connection or a time limit kept an exchange from ending.
    static let brokenExchanges: Self = [
        .offline, .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated,
    ]
}
