/// The cause of a ``TransportError/Code/timedOut`` of a request whose deadline passed while it waited to be sent: it says
/// nothing about the server.
struct UnsentError: Error, CustomStringConvertible {
    /// How long it would have had to wait from then on, as far as that is known.
    let wait: Duration

    var description: String { "the request was not sent" }

    /// The error of a request that was still waiting for something at its deadline, or would have been.
    static func timedOut(
        waitingFor what: String,
        _ request: borrowing HTTPRequest,
        wait: Duration = .zero
    ) -> TransportError {
        TransportError(
            .timedOut,
            "The deadline of the call passed while it waited for \(what).",
            request: copy request,
            underlying: UnsentError(wait: wait)
        )
    }

    /// Whether an error is one of these.
    static func isCause(of error: any Error) -> Bool { cause(of: error) != nil }

    /// The one that is an error's cause.
    static func cause(of error: any Error) -> UnsentError? { (error as? TransportError)?.underlying as? UnsentError }
}

/// The error of a request that an interceptor refused: nothing of it was sent.
protocol RefusedRequestError: ContextualError {
    /// Whether it was refused because the server is taken to be out of reach.
    var saysOutOfReach: Bool { get }
    /// The method of the request, as far as that is known.
    var refusedMethod: HTTPRequest.Method? { get }
}

extension RefusedRequestError {
    var saysOutOfReach: Bool { false }
}

extension ChainOrderError: RefusedRequestError {
    var refusedMethod: HTTPRequest.Method? { method }
}

extension UnsentError {
    private static let codes: Set<TransportError.Code> = [
        .cannotFindHost, .cannotConnect, .invalidRequest, .sendingForbidden, .unsupportedURL,
    ]

    /// Whether an error says for certain that no server has seen a request of this method, in whichever attempt.
    ///
    /// `tlsFailed` doesn't: a server may object to a certificate once it has the request.
    static func isCertain(after error: any Error, of method: HTTPRequest.Method) -> Bool {
        // After a redirect that changed the method it is about the retrieval: the request itself was acted on.
        guard let error = error as? any ContextualError, !error.context.hasChangedMethod else { return false }
        if let error = error as? TransportError {
            // So it is where its method is another one, whoever followed the redirect.
            guard codes.contains(error.code) || isCause(of: error), (error.method ?? method) == method else {
                return false
            }
        } else {
            guard let error = error as? any RefusedRequestError, (error.refusedMethod ?? method) == method else {
                return false
            }
        }
        return error.context.attempts.allSatisfy { attempt in
            attempt.error.map { isCertain(after: $0, of: method) } ?? false
        }
    }
}
