extension UnsentError {
    /// The error of a request that is refused at once, or removed from a line, because it can't be sent before its deadline.
    package static func timedOut(
        waitingFor what: String,
        _ request: borrowing HTTPRequest,
        wait: Duration = .zero
    ) -> TransportError {
        let message = "The deadline of the call passed while it waited for \(what)."
        return TransportError(.timedOut, message, request: copy request, underlying: UnsentError(wait: wait))
    }

    /// Whether the error's cause is an `UnsentError`.
    static func isCause(of error: any Error) -> Bool { cause(of: error) != nil }

    /// The `UnsentError` that caused an error, if any.
    static func cause(of error: any Error) -> UnsentError? { error.causes.lazy.compactMap { $0 as? UnsentError }.first }

    /// Whether an error proves that no server has seen a request, in any of its attempts.
    static func isCertain(after error: any Error, of request: HTTPRequest) -> Bool {
        guard (error as? any HTTPError)?.sentNothing == true else { return false }
        // An author's error may wrap another error, whose context has the redirects and the attempts.
        return error.causes.lazy.compactMap { $0 as? any HTTPError }.allSatisfy { error in
            // After a redirect that changed the method, the error is about the redirected request, and the server acted on the
            // original request. A different method reveals such a redirect even if the transport followed it.
            guard !error.context.hasChangedMethod, isAbout(request, error) else { return false }
            return error.context.attempts.allSatisfy { attempt in
                attempt.error.map { isCertain(after: $0, of: request) } ?? false
            }
        }
    }

    /// Whether an error is about this request, not about another request that an inner interceptor also sent. Ignores the
    /// query, because interceptors may change it, for example to add a signature.
    private static func isAbout(_ request: HTTPRequest, _ error: any HTTPError) -> Bool {
        guard let found = error.request else { return true }
        let url = error.context.redirects.last?.target ?? request.url
        return found.method == request.method
            && found.url.prefix { $0 != "?" } == Redaction.standard.string(for: url).prefix { $0 != "?" }
    }
}
