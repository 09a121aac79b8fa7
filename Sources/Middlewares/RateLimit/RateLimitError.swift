public import Foundation

/// Why ``RateLimitInterceptor`` did not send a request.
public struct RateLimitError: ContextualError, RefusedRequestError, Sendable {
    /// What went wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `waitTooLong`.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// As many requests as may wait do so already.
        public static let queueFull = Self(rawValue: "queueFull")
        /// The request would have to wait longer than it may.
        public static let waitTooLong = Self(rawValue: "waitTooLong")
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong and what to do about it, for a person.
    public let message: String
    /// How long the request would have had to wait, where that is what went wrong.
    public let wait: Duration?
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The URL of the request, with secrets redacted.
    public let url: String
    /// What is to be known about the failed call beyond the failure itself, such as the attempts that were made.
    public var context = HTTPContext()

    var refusedMethod: HTTPRequest.Method? { method }

    private init(_ code: Code, _ message: String, wait: Duration? = nil, request: borrowing HTTPRequest) {
        self.code = code
        self.message = message
        self.wait = wait
        self.method = request.method
        self.url = Redaction.standard.string(for: request.url)
    }

    static func queueFull(waiting: Int, request: borrowing HTTPRequest) -> Self {
        Self(
            .queueFull,
            "The request was not sent: \(waiting) others wait for their turn already, as many as may. Send fewer, or let"
                + " more of them wait: rateLimit(…, waiting:).",
            request: request
        )
    }

    static func waitTooLong(_ wait: Duration, limit: Duration, request: borrowing HTTPRequest) -> Self {
        Self(
            .waitTooLong,
            "The request was not sent: it would have to wait \(wait) for its turn, longer than the \(limit) it may. Try"
                + " again later, or allow a longer wait: rateLimit(…, longestWait:).",
            wait: wait,
            request: request
        )
    }
}

extension RateLimitError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// Code, message and request, without secrets.
    public var description: String { "RateLimitError.\(code): \(message) (\(method) \(url))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
