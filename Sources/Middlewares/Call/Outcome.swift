internal import InterceptorsCore

extension Next {
    /// Runs the rest of the chain, and returns the response or the error.
    @inline(__always)
    func outcome(of request: consuming HTTPRequest) async -> Result<HTTPResponse, any Error> {
        do { return .success(try await self(request)) } catch { return .failure(error) }
    }
}

extension Result where Success == HTTPResponse {
    /// The response: on success the value, on failure the response that the error was made from, if any.
    package var answered: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.receivedResponse
        }
    }

    /// Whether a redirect changed the method on the way to this outcome. The server then acted on the original request.
    var hasChangedMethod: Bool { contexts.contains(where: \.hasChangedMethod) }

    /// Whether the server may have acted on an earlier attempt of an inner `retry`. The last attempt doesn't count, because it
    /// led to this outcome.
    func mayHaveActed(on request: HTTPRequest) -> Bool {
        contexts.contains { context in
            context.attempts.dropLast().contains { attempt in
                if let status = attempt.status { return status.kind != .clientError }
                return !(attempt.error.map { UnsentError.isCertain(after: $0, of: request) } ?? false)
            }
        }
    }

    /// The contexts to which inner interceptors may have added facts. An author's error may wrap another error, or hold a
    /// response, whose context has the facts.
    private var contexts: [HTTPContext] {
        switch self {
        case .success(let response): [response.context]
        case .failure(let error):
            error.causes.compactMap { ($0 as? any HTTPError)?.context } + (answered.map { [$0.context] } ?? [])
        }
    }
}
