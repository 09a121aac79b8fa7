/// The outcomes that are worth another attempt.
///
/// ```swift
/// .retry(RetryPolicy(condition: .standard || .status(409) || .error(EnvelopeError.self) { $0.code == 1003 }))
/// ```
/// ``RetryPolicy`` decides separately whether the request may be sent again.
public struct RetryCondition: Sendable {
    private let criteria: AnswerCriteria
    private let others: [@Sendable (HTTPRequest, Result<HTTPResponse, any Error>) -> Bool]

    private init(
        _ criteria: AnswerCriteria = AnswerCriteria(),
        others: [@Sendable (HTTPRequest, Result<HTTPResponse, any Error>) -> Bool] = []
    ) {
        self.criteria = criteria
        self.others = others
    }

    /// Failures that are usually temporary: the statuses 408, 429, 500, 502, 503 and 504, a 413 with `Retry-After` (RFC 9110
    /// §15.5.14), and a ``TransportError`` with `cannotFindHost`, `cannotConnect`, `connectionLost`, `timedOut` or
    /// `truncated`.
    public static let standard =
        status(408, 429, 500, 502, 503, 504)
        || Self(AnswerCriteria(statusesWithRetryAfter: [413]))
        || transportError(.cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated)

    /// A condition decided by a closure from the request and the outcome of the rest of the chain.
    ///
    /// The closure must not consume the response's body, but may look at ``HTTPBody/bytes`` of a buffered one. The closure
    /// never sees cancellations.
    public static func answer(
        where isRetried: @escaping @Sendable (HTTPRequest, Result<HTTPResponse, any Error>) -> Bool
    ) -> Self {
        Self(others: [isRetried])
    }

    /// A response with one of these statuses, or an error that an inner interceptor made from such a response
    /// (``HTTPError/response``).
    public static func status(_ statuses: HTTPResponse.Status...) -> Self {
        Self(AnswerCriteria(statuses: statuses))
    }

    /// A ``TransportError`` with one of these codes.
    public static func transportError(_ codes: TransportError.Code...) -> Self {
        error(TransportError.self) { codes.contains($0.code) }
    }

    /// An error of this type, thrown by the rest of the chain.
    ///
    /// - Parameters:
    ///   - type: the type of the error.
    ///   - isRetried: selects the errors that count; by default all.
    public static func error<Failure: Error>(
        _ type: Failure.Type,
        where isRetried: @escaping @Sendable (Failure) -> Bool = { _ in true }
    ) -> Self {
        Self(AnswerCriteria { ($0 as? Failure).map(isRetried) ?? false })
    }

    /// A condition that is met if either of two conditions is met. The order in which they are checked isn't specified, nor is
    /// whether both are.
    public static func || (left: Self, right: Self) -> Self {
        Self(left.criteria || right.criteria, others: left.others + right.others)
    }

    /// Whether the outcome of a request meets the condition. A cancellation never does.
    public func matches(_ answer: Result<HTTPResponse, any Error>, to request: borrowing HTTPRequest) -> Bool {
        if case .failure(is CancellationError) = answer { return false }
        if criteria.areMet(by: answer) { return true }
        guard !others.isEmpty else { return false }
        let request = copy request
        return others.contains { $0(request, answer) }
    }
}
