/// Tells which outcomes mean that a request's credential is not, or no longer, valid.
///
/// ```swift
/// .retryOnUnauthorized(tokens, when: .status(401, 419) || .error(EnvelopeError.self) { $0.code == 1001 })
/// ```
public struct UnauthorizedCondition: Sendable {
    private let criteria: AnswerCriteria
    private let others: [@Sendable (Result<HTTPResponse, any Error>) -> Bool]

    private init(
        _ criteria: AnswerCriteria = AnswerCriteria(),
        others: [@Sendable (Result<HTTPResponse, any Error>) -> Bool] = []
    ) {
        self.criteria = criteria
        self.others = others
    }

    /// Matches the outcomes for which a closure returns `true`. The closure must not consume the response's body; it may read
    /// a buffered body's ``HTTPBody/bytes``. It is never called with a cancellation.
    public static func answer(
        where isUnauthorized: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Bool
    ) -> Self {
        Self(others: [isUnauthorized])
    }

    /// Matches a response with one of these statuses, and an error that an inner interceptor made from such a response
    /// (``HTTPError/response``).
    public static func status(_ statuses: HTTPResponse.Status...) -> Self {
        Self(AnswerCriteria(statuses: statuses))
    }

    /// Matches an error of this type that an inner interceptor throws, such as the error of `unwrapEnvelope`.
    ///
    /// - Parameters:
    ///   - type: the type of the error.
    ///   - isUnauthorized: tells which errors of the type match; by default all.
    public static func error<Failure: Error>(
        _ type: Failure.Type,
        where isUnauthorized: @escaping @Sendable (Failure) -> Bool = { _ in true }
    ) -> Self {
        Self(AnswerCriteria { ($0 as? Failure).map(isUnauthorized) ?? false })
    }

    /// Matches an outcome that matches either condition. The order of evaluation is unspecified, and one match may skip the
    /// other condition.
    public static func || (left: Self, right: Self) -> Self {
        Self(left.criteria || right.criteria, others: left.others + right.others)
    }

    /// Whether an outcome matches the condition. A cancellation never matches.
    public func matches(_ answer: Result<HTTPResponse, any Error>) -> Bool {
        if case .failure(is CancellationError) = answer { return false }
        return criteria.areMet(by: answer) || others.contains { $0(answer) }
    }
}
