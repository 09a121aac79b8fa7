/// The error of a request that ``LimitConcurrencyInterceptor`` refused to send.
public struct ConcurrencyLimitError: ContextualError, RefusedRequestError, Sendable {
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
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The URL of the request, with secrets redacted.
    public let url: String
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()

    var refusedMethod: HTTPRequest.Method? { method }

    init(_ code: Code, _ message: String, request: borrowing HTTPRequest) {
        self.code = code
        self.message = message
        self.method = request.method
        self.url = Redaction.standard.string(for: request.url)
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

extension ConcurrencyLimitError: DescribedError {
    /// The code, message and request on one line, without secrets.
    public var description: String { Self.line(code, message, method, url) }
}
