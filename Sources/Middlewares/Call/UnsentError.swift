extension UnsentError {
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

    /// Whether an error proves that no server has seen a request with this method, in any of its attempts.
    static func isCertain(after error: any Error, of method: HTTPRequest.Method) -> Bool {
        guard (error as? any HTTPError)?.sentNothing == true else { return false }
        // An author's error may wrap the one that redirects and attempts were noted in.
        return error.causes.lazy.compactMap { $0 as? any HTTPError }.allSatisfy { error in
            // After a redirect that changed the method, the error is about the redirected request; the original one was acted
            // on. A different method reveals such a redirect too, even if the transport followed it.
            guard !error.context.hasChangedMethod, (error.request?.method ?? method) == method else { return false }
            return error.context.attempts.allSatisfy { attempt in
                attempt.error.map { isCertain(after: $0, of: method) } ?? false
            }
        }
    }
}
