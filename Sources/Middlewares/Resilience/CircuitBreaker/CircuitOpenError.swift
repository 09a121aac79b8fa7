/// The error of a request that ``CircuitBreakerInterceptor`` refused to send, because the host failed too often.
public struct CircuitOpenError: HTTPError, ServerOutOfReach {
    /// The scheme, host and port whose circuit is open.
    public let origin: Origin
    /// The longest time until the next probe may be sent. A request before then is likely to be refused too.
    public let nextProbe: Duration
    /// A message for people: the cause, and when to try again.
    public let message: String
    /// The method and the redacted URL of the request.
    public let request: HTTPRequest.Summary?
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()

    init(_ origin: Origin, state: CircuitState, nextProbe: Duration, request: borrowing HTTPRequest) {
        self.origin = origin
        self.nextProbe = nextProbe
        self.request = HTTPRequest.Summary(method: request.method, url: request.url)
        message =
            state == .halfOpen
            ? "The request was not sent, because \(origin) failed too often and is being probed. Try again when the probes have"
                + " ended, or in \(nextProbe)."
            : "The request was not sent, because \(origin) failed too often. Try again in \(nextProbe)."
    }
}

extension CircuitOpenError {
    /// `true`: the request was refused before it was sent.
    public var sentNothing: Bool { true }

    /// A short English sentence for people.
    public var errorDescription: String? { "The server can't be reached at the moment. Please try again later." }
}
