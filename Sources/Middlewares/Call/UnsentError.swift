/// The cause of a ``TransportError/Code/timedOut`` for a request whose deadline passed while it waited to be sent. Such an
/// error says nothing about the server.
struct UnsentError: Error, CustomStringConvertible {
    /// The time that the request would still have had to wait, if known; otherwise zero.
    let wait: Duration

    var description: String { "the request was not sent" }

    /// The error of a request that is refused at once, or removed from a line, because it can't be sent before its deadline.
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

    /// Whether the error's cause is an `UnsentError`.
    static func isCause(of error: any Error) -> Bool { cause(of: error) != nil }

    /// The `UnsentError` that caused an error, if any.
    static func cause(of error: any Error) -> UnsentError? { (error as? TransportError)?.underlying as? UnsentError }
}

/// An error that an interceptor threw instead of sending the request.
protocol RefusedRequestError: ContextualError {
    /// Whether the request was refused because the server is considered unreachable.
    var saysOutOfReach: Bool { get }
    /// The method of the request, if known.
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

    /// Whether an error proves that no server has seen a request with this method, in any of its attempts.
    ///
    /// `tlsFailed` proves nothing, because a server may reject a client certificate after it received the request.
    static func isCertain(after error: any Error, of method: HTTPRequest.Method) -> Bool {
        // After a redirect that changed the method, the error is about the redirected request; the original one was acted on.
        guard let error = error as? any ContextualError, !error.context.hasChangedMethod else { return false }
        if let error = error as? TransportError {
            // A different method reveals such a redirect too, even if the transport followed it.
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
