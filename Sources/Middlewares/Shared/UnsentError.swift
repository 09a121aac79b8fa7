/// The cause of a ``TransportError/Code/timedOut`` of a request whose deadline passed while it waited to be sent: it says
/// nothing about the server.
struct UnsentError: Error, CustomStringConvertible {
    var description: String { "the request was not sent" }

    /// The error of a request that was still waiting for something at its deadline.
    static func timedOut(waitingFor what: String, _ request: borrowing HTTPRequest) -> TransportError {
        TransportError(
            .timedOut,
            "The deadline of the call passed while it waited for \(what).",
            request: copy request,
            underlying: UnsentError()
        )
    }

    /// Whether an error is one of these.
    static func isCause(of error: any Error) -> Bool {
        (error as? TransportError)?.underlying is UnsentError
    }
}
