/// Which answers say that the credential of a request is not, or no longer, good.
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

    /// What a closure says of the answer of the rest of the chain. It must not consume the response's body; one that is
    /// buffered can be looked at: ``HTTPBody/bytes``. Cancellations are not shown to it.
    public static func answer(
        where isUnauthorized: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Bool
    ) -> Self {
        Self(others: [isUnauthorized])
    }

    /// A response with one of these statuses, or the ``StatusError`` or ``EnvelopeError`` that an interceptor inside has made
    /// of it.
    public static func status(_ statuses: HTTPResponse.Status...) -> Self {
        Self(AnswerCriteria(statuses: statuses))
    }

    /// An error of this type that an interceptor inside throws, such as one that unwraps envelopes.
    ///
    /// - Parameters:
    ///   - type: the type of the error.
    ///   - isUnauthorized: tells which of them count; by default all.
    public static func error<Failure: Error>(
        _ type: Failure.Type,
        where isUnauthorized: @escaping @Sendable (Failure) -> Bool = { _ in true }
    ) -> Self {
        Self(AnswerCriteria { ($0 as? Failure).map(isUnauthorized) ?? false })
    }

    /// What meets one condition or the other. Which of them is asked first is not promised, nor that the second is asked at all
    /// where one is met.
    public static func || (left: Self, right: Self) -> Self {
        Self(left.criteria || right.criteria, others: left.others + right.others)
    }

    /// Whether a response of this status may meet it. Where nothing but the status counts, nothing else need be made ready.
    func mayMatch(_ status: HTTPResponse.Status) -> Bool { !others.isEmpty || criteria.mayBeMet(by: status) }

    /// Whether an answer meets the condition. A cancellation never does.
    public func matches(_ answer: Result<HTTPResponse, any Error>) -> Bool {
        if case .failure(is CancellationError) = answer { return false }
        return criteria.areMet(by: answer) || others.contains { $0(answer) }
    }
}
