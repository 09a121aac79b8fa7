/// The error of a request that `limitConcurrency`, `rateLimit` or `circuitBreaker` refused to send.
///
/// No server has seen the request. `retry` may send it again if its condition names the code:
/// `.temporaryFailure || .code(.queueFull)`. Don't name `circuitOpen`: while the circuit is open, each attempt fails at once.
public struct LimitError: HTTPError {
    /// The reason for the refusal.
    public let code: HTTPErrorCode
    /// A message for people: the cause and the remedy.
    public let message: String
    /// The longest time until a request may be sent: the wait that `rateLimit` would have needed, or the time until
    /// `circuitBreaker` sends the next probe. `nil` if the time isn't known.
    public let wait: Duration?
    /// The scheme, host and port whose circuit is open; `nil` for the other codes.
    public let origin: Origin?
    /// The method and the redacted URL of the request.
    public let request: HTTPRequest.Summary?
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()
    /// `nil`: no response caused the error.
    public var response: HTTPResponse? { nil }
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }

    private init(
        _ code: HTTPErrorCode,
        _ message: String,
        wait: Duration? = nil,
        origin: Origin? = nil,
        request: borrowing HTTPRequest
    ) {
        self.code = code
        self.message = message
        self.wait = wait
        self.origin = origin
        self.request = HTTPRequest.Summary(method: request.method, url: request.url)
    }

    /// - Parameter limit: the name of the interceptor that refused the request.
    package static func queueFull(_ limit: String, waiting: Int, request: borrowing HTTPRequest) -> Self {
        let reason = "\(waiting) requests are already waiting, the maximum of \(limit)."
        let remedy = "Send fewer requests at a time, or raise the maximum: \(limit)(…, maxQueued:)."
        return Self(.queueFull, "The request was not sent, because \(reason) \(remedy)", request: request)
    }

    package static func waitTooLong(_ wait: Duration, limit: Duration, request: borrowing HTTPRequest) -> Self {
        let reason = "the rate limit would make it wait \(wait), and the maximum is \(limit)."
        let remedy = "Try again later, or allow a longer wait: rateLimit(…, maxWait:)."
        return Self(.waitTooLong, "The request was not sent, because \(reason) \(remedy)", wait: wait, request: request)
    }

    package static func circuitOpen(
        _ origin: Origin,
        isProbed: Bool = false,
        nextProbe: Duration,
        request: borrowing HTTPRequest
    ) -> Self {
        let message =
            isProbed
            ? "The request was not sent, because \(origin) failed too often and is being probed. Try again when the probes have"
                + " ended, or in \(nextProbe)."
            : "The request was not sent, because \(origin) failed too often. Try again in \(nextProbe)."
        return Self(.circuitOpen, message, wait: nextProbe, origin: origin, request: request)
    }
}

extension HTTPErrorCode {
    /// `LimitError`: the maximum number of requests is already waiting in `limitConcurrency` or `rateLimit`.
    public static let queueFull = Self(rawValue: "queueFull")
    /// `LimitError`: the request would have to wait longer than `rateLimit` allows.
    public static let waitTooLong = Self(rawValue: "waitTooLong")
    /// `LimitError`: the host failed too often, and `circuitBreaker` sends nothing there at the moment.
    public static let circuitOpen = Self(rawValue: "circuitOpen")
}

extension LimitError: TemporaryRefusal {
    /// `true`: the request was refused before it was sent.
    public var sentNothing: Bool { true }

    /// A short English sentence for people.
    public var errorDescription: String? {
        code == .circuitOpen
            ? "The server can't be reached at the moment. Please try again later."
            : "There were too many requests at once. Please try again later."
    }
}
