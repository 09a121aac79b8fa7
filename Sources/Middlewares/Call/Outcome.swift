internal import Interceptors

/// An error of a request that was refused because its server is considered unreachable.
protocol ServerOutOfReach: HTTPError {}

extension Result where Success == HTTPResponse {
    /// The response: on success the value, on failure the response that the error was made from, if any.
    var answered: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): (error as? any HTTPError)?.response
        }
    }

    /// Whether a redirect changed the method on the way to this outcome. The server then acted on the original request.
    var hasChangedMethod: Bool { contexts.contains(where: \.hasChangedMethod) }

    /// Whether an attempt before the last one, by an inner `retry`, may have been acted on. The last one made this outcome.
    func mayHaveActed(on request: HTTPRequest) -> Bool {
        contexts.contains { context in
            context.attempts.dropLast().contains { attempt in
                if let status = attempt.status { return status.kind != .clientError }
                return !(attempt.error.map { UnsentError.isCertain(after: $0, of: request) } ?? false)
            }
        }
    }

    /// The contexts in which interceptors further inside may have noted facts. An author's error may wrap another error, or hold
    /// a response, whose context has them.
    private var contexts: [HTTPContext] {
        switch self {
        case .success(let response): [response.context]
        case .failure(let error):
            error.causes.compactMap { ($0 as? any HTTPError)?.context } + (answered.map { [$0.context] } ?? [])
        }
    }
}
