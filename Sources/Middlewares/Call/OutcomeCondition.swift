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
    private let criteria: AnswerCriteria
    private let others: [@Sendable (HTTPRequest, Result<HTTPResponse, any Error>) -> Bool]

    private init(
        _ criteria: AnswerCriteria = AnswerCriteria(),
        others: [@Sendable (HTTPRequest, Result<HTTPResponse, any Error>) -> Bool] = []
    ) {
        self.criteria = criteria
        self.others = others
    }

    /// Failures that are usually temporary, the default of `retry`: the statuses 408, 429, 500, 502, 503 and 504, a 413 with
    /// `Retry-After` (RFC 9110 §15.5.14), and an error with the ``code(_:)`` `offline`, `cannotFindHost`, `cannotConnect`,
    /// `connectionLost`, `timedOut` or `truncated`.
    public static let temporaryFailure =
        Self(AnswerCriteria(statuses: [408, 429] + HTTPResponse.Status.serverFailures))
        || Self(AnswerCriteria(statusesWithRetryAfter: [413]))
        || Self(AnswerCriteria { $0.isOrIsCausedBy(.brokenExchanges) })

    /// Failures of the host, the default of `circuitBreaker`: the statuses 500, 502, 503 and 504, and an error with the
    /// ``code(_:)`` `offline`, `cannotFindHost`, `cannotConnect`, `tlsFailed`, `connectionLost`, `timedOut`, `truncated` or
    /// `invalidResponse`. The `timedOut` of a request that waited in `limitConcurrency`, in `rateLimit` or in the line of
    /// `CurlTransport` doesn't match, because it says nothing about the host.
    public static let hostFailure =
        Self(AnswerCriteria(statuses: HTTPResponse.Status.serverFailures))
        || Self(AnswerCriteria { $0.isOrIsCausedBy(hostFailures) && !UnsentError.isCause(of: $0) })

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
        Self(AnswerCriteria(statuses: statuses))
    }

    /// An error with one of these codes, or an error that such an error caused (`HTTPError.underlying`). The type of the error
    /// doesn't matter.
    ///
    /// ```swift
    /// .retry(maxAttempts: 3, when: .temporaryFailure || .code(.tlsFailed, .queueFull))
    /// ```
    public static func code(_ codes: HTTPErrorCode...) -> Self {
        let codes = Set(codes)
        return Self(AnswerCriteria { $0.isOrIsCausedBy(codes) })
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
        Self(AnswerCriteria { ($0 as? Failure).map(isMet) ?? false })
    }

    /// A condition that matches if either of two conditions does. The order in which they are checked isn't specified, nor is
    /// whether both are.
    public static func || (left: Self, right: Self) -> Self {
        Self(left.criteria || right.criteria, others: left.others + right.others)
    }

    /// Whether a 401 matches, as far as statuses decide and not closures.
    var includesUnauthorized: Bool { criteria.areMet(by: .success(HTTPResponse(status: 401))) }

    /// The statuses that match, with 0 for a failed connection; `nil` if closures decide.
    var knownOutcomes: Set<Int>? {
        guard others.isEmpty else { return nil }
        let codes: [HTTPErrorCode] = [
            .offline, .cannotFindHost, .cannotConnect, .tlsFailed, .connectionLost, .timedOut, .truncated,
        ]
        let isConnection = codes.contains { criteria.areMet(by: .failure(TransportError($0, "…"))) }
        return criteria.knownStatuses.union(isConnection ? [0] : [])
    }

    /// Whether the outcome of a request matches. A cancellation never does.
    public func matches(_ outcome: Result<HTTPResponse, any Error>, to request: borrowing HTTPRequest) -> Bool {
        if case .failure(is CancellationError) = outcome { return false }
        if criteria.areMet(by: outcome) { return true }
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
