/// Which answers say that the credential of a request is not, or no longer, good.
///
/// ```swift
/// .retryOnUnauthorized(tokens, when: .status(401, 419) || .error(EnvelopeError.self) { $0.code == 1001 })
/// ```
public struct UnauthorizedCondition: Sendable {
    private let isMet: @Sendable (Result<HTTPResponse, any Error>) -> Bool

    private init(_ isMet: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Bool) { self.isMet = isMet }

    /// What a closure says of the answer of the rest of the chain. It must not consume the response's body; one that is
    /// buffered can be looked at: ``HTTPBody/bytes``. Cancellations are not shown to it.
    public static func answer(
        where isUnauthorized: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Bool
    ) -> Self {
        Self(isUnauthorized)
    }

    /// A response with one of these statuses, or the ``StatusError`` that a `validateStatus` inside has made of it.
    public static func status(_ statuses: HTTPResponse.Status...) -> Self {
        Self { answer in answer.answered.map { statuses.contains($0.status) } ?? false }
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
        Self { answer in
            if case .failure(let error as Failure) = answer { isUnauthorized(error) } else { false }
        }
    }

    /// What meets one condition or the other.
    public static func || (left: Self, right: Self) -> Self {
        Self { left.isMet($0) || right.isMet($0) }
    }

    /// Whether an answer meets the condition. A cancellation never does.
    public func matches(_ answer: Result<HTTPResponse, any Error>) -> Bool {
        if case .failure(is CancellationError) = answer { return false }
        return isMet(answer)
    }
}
