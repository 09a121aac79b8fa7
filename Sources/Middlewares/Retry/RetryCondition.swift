/// Which answers are worth another attempt.
///
/// ```swift
/// .retry(RetryPolicy(condition: .standard || .status(409) || .error(EnvelopeError.self) { $0.code == 1003 }))
/// ```
/// Whether the request may be sent again is another question: see ``RetryPolicy``.
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

    /// What passes by itself, usually: the statuses 408, 429, 500, 502, 503 and 504, a 413 with `Retry-After` (RFC 9110
    /// §15.5.14), and a ``TransportError`` with `cannotFindHost`, `cannotConnect`, `connectionLost`, `timedOut` or
    /// `truncated`.
    public static let standard =
        status(408, 429, 500, 502, 503, 504)
        || Self(AnswerCriteria(statusesWithRetryAfter: [413]))
        || transportError(.cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated)

    /// What a closure says of a request and the answer of the rest of the chain. It must not consume the response's body; one
    /// that is buffered can be looked at: ``HTTPBody/bytes``. Cancellations are not shown to it.
    public static func answer(
        where isRetried: @escaping @Sendable (HTTPRequest, Result<HTTPResponse, any Error>) -> Bool
    ) -> Self {
        Self(others: [isRetried])
    }

    /// A response with one of these statuses, or the ``StatusError`` or ``EnvelopeError`` that an interceptor inside has made
    /// of it.
    public static func status(_ statuses: HTTPResponse.Status...) -> Self {
        Self(AnswerCriteria(statuses: statuses))
    }

    /// A ``TransportError`` with one of these codes.
    public static func transportError(_ codes: TransportError.Code...) -> Self {
        error(TransportError.self) { codes.contains($0.code) }
    }

    /// An error of this type that the rest of the chain throws.
    ///
    /// - Parameters:
    ///   - type: the type of the error.
    ///   - isRetried: tells which of them count; by default all.
    public static func error<Failure: Error>(
        _ type: Failure.Type,
        where isRetried: @escaping @Sendable (Failure) -> Bool = { _ in true }
    ) -> Self {
        Self(AnswerCriteria { ($0 as? Failure).map(isRetried) ?? false })
    }

    /// What meets one condition or the other. Which of them is asked first is not promised, nor that the second is asked at all
    /// where one is met.
    public static func || (left: Self, right: Self) -> Self {
        Self(left.criteria || right.criteria, others: left.others + right.others)
    }

    /// Whether a response of this status may meet it. Where nothing but the status counts, nothing else need be made ready.
    func mayMatch(_ status: HTTPResponse.Status) -> Bool { !others.isEmpty || criteria.mayBeMet(by: status) }

    /// Whether the answer to a request meets the condition. A cancellation never does.
    public func matches(_ answer: Result<HTTPResponse, any Error>, to request: borrowing HTTPRequest) -> Bool {
        if case .failure(is CancellationError) = answer { return false }
        if criteria.areMet(by: answer) { return true }
        guard !others.isEmpty else { return false }
        let request = copy request
        return others.contains { $0(request, answer) }
    }
}
