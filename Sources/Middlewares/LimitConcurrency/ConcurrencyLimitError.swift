public import Foundation

/// Why ``LimitConcurrencyInterceptor`` did not send a request.
public struct ConcurrencyLimitError: ContextualError, RefusedRequestError, Sendable {
    /// What went wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `queueFull`.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// As many requests as may wait do so already.
        public static let queueFull = Self(rawValue: "queueFull")
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong and what to do about it, for a person.
    public let message: String
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The URL of the request, with secrets redacted.
    public let url: String
    /// What is to be known about the failed call beyond the failure itself, such as the attempts that were made.
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
            "The request was not sent: \(waiting) others wait for a permit already, as many as may. Send fewer at a time,"
                + " or let more of them wait: limitConcurrency(…, waiting:).",
            request: request
        )
    }
}

extension ConcurrencyLimitError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// Code, message and request, without secrets.
    public var description: String { "ConcurrencyLimitError.\(code): \(message) (\(method) \(url))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
