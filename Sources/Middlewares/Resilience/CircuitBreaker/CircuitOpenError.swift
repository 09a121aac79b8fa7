/// The error of a request that ``CircuitBreakerInterceptor`` refused to send, because the host failed too often.
public struct CircuitOpenError: ContextualError, RefusedRequestError, Sendable {
    /// The scheme, host and port whose circuit is open.
    public let origin: Origin
    /// The longest time until the next probe may be sent. A request before then is likely to be refused too.
    public let nextProbe: Duration
    /// A message for people: the cause, and when to try again.
    public let message: String
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The URL of the request, with secrets redacted.
    public let url: String
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()

    var refusedMethod: HTTPRequest.Method? { method }

    var saysOutOfReach: Bool { true }

    init(_ origin: Origin, state: CircuitState, nextProbe: Duration, request: borrowing HTTPRequest) {
        self.origin = origin
        self.nextProbe = nextProbe
        method = request.method
        url = Redaction.standard.string(for: request.url)
        message =
            state == .halfOpen
            ? "The request was not sent, because \(origin) failed too often and is being probed. Try again when the probes have"
                + " ended, or in \(nextProbe)."
            : "The request was not sent, because \(origin) failed too often. Try again in \(nextProbe)."
    }
}

extension CircuitOpenError: DescribedError {
    /// The message and the request on one line, without secrets.
    public var description: String { "CircuitOpenError: \(message) (\(method) \(url))" }
}
