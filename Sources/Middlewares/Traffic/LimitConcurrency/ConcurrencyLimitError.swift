/// The error of a request that ``LimitConcurrencyInterceptor`` refused to send.
public struct ConcurrencyLimitError: HTTPError {
    /// The reason for a refusal. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `queueFull`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The maximum number of requests is already waiting.
        public static let queueFull = Self(rawValue: "queueFull")
    }

    /// The reason for the refusal.
    public let code: Code
    /// A message for people: the cause and the remedy.
    public let message: String
    /// The method and the redacted URL of the request.
    public let request: HTTPRequest.Summary?
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()

    init(_ code: Code, _ message: String, request: borrowing HTTPRequest) {
        self.code = code
        self.message = message
        self.request = HTTPRequest.Summary(method: request.method, url: request.url)
    }

    static func queueFull(waiting: Int, request: borrowing HTTPRequest) -> Self {
        Self(
            .queueFull,
            "The request was not sent, because \(waiting) requests are already waiting, the maximum of the concurrency limit."
                + " Send fewer requests at a time, or raise the maximum: limitConcurrency(…, maxQueued:).",
            request: request
        )
    }
}

extension ConcurrencyLimitError {
    /// The name of the code, such as `ConcurrencyLimitError.queueFull`.
    public var codeName: String { "ConcurrencyLimitError.\(code)" }

    /// `true`: the request was refused before it was sent.
    public var sentNothing: Bool { true }

    /// A short English sentence for people.
    public var errorDescription: String? { "There were too many requests at once. Please try again later." }
}
