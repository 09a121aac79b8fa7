/// The error of a request that ``RateLimitInterceptor`` refused to send.
public struct RateLimitError: HTTPError {
    /// The reason for a refusal. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `waitTooLong`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The maximum number of requests is already waiting.
        public static let queueFull = Self(rawValue: "queueFull")
        /// The request would have to wait longer than allowed.
        public static let waitTooLong = Self(rawValue: "waitTooLong")
    }

    /// The reason for the refusal.
    public let code: Code
    /// A message for people: the cause and the remedy.
    public let message: String
    /// The time the request would have had to wait, if the code is ``RateLimitError/Code/waitTooLong``.
    public let wait: Duration?
    /// The method and the redacted URL of the request.
    public let request: HTTPRequest.Summary?
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()

    private init(_ code: Code, _ message: String, wait: Duration? = nil, request: borrowing HTTPRequest) {
        self.code = code
        self.message = message
        self.wait = wait
        self.request = HTTPRequest.Summary(method: request.method, url: request.url)
    }

    static func queueFull(waiting: Int, request: borrowing HTTPRequest) -> Self {
        Self(
            .queueFull,
            "The request was not sent, because \(waiting) requests are already waiting, the maximum of the rate limit."
                + " Send fewer requests, or raise the maximum: rateLimit(…, maxQueued:).",
            request: request
        )
    }

    static func waitTooLong(_ wait: Duration, limit: Duration, request: borrowing HTTPRequest) -> Self {
        Self(
            .waitTooLong,
            "The request was not sent, because the rate limit would make it wait \(wait), and the maximum is \(limit). Try"
                + " again later, or allow a longer wait: rateLimit(…, maxWait:).",
            wait: wait,
            request: request
        )
    }
}

extension RateLimitError {
    /// The name of the code, such as `RateLimitError.queueFull`.
    public var codeName: String { "RateLimitError.\(code)" }

    /// `true`: the request was refused before it was sent.
    public var sentNothing: Bool { true }

    /// A short English sentence for people.
    public var errorDescription: String? { "There were too many requests at once. Please try again later." }
}
