public import Foundation

/// Why a request got no response, or a body could not be read.
///
/// The description names the request with secrets redacted. A cancelled call throws `CancellationError` instead.
public struct TransportError: ContextualError, Sendable {
    /// What went wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `timedOut`.
        public let rawValue: String
        /// A code by its name, for transports that need one of their own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong and what to do about it, for a person.
    public let message: String
    /// The method of the request.
    public let method: HTTPRequest.Method?
    /// The URL of the request, with secrets redacted.
    public let url: String?
    /// The error that this one reports, where it can add something.
    public let underlying: (any Error)?
    /// What is to be known about the failed call beyond the failure itself, such as the attempts that were made.
    public var context = HTTPContext()

    /// An error about a request.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request, of which the method and the redacted URL are kept.
    ///   - underlying: the cause. It must hold no secret.
    public init(
        _ code: Code,
        _ message: String,
        request: HTTPRequest? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.method = request?.method
        self.url = request.map { Redaction.standard.string(for: $0.url) }
        self.underlying = underlying
    }
}

extension TransportError.Code {
    /// The request can't be sent as it is: a control character in a field, a method that is no token, and the like.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The URL is not an absolute http or https URL with a host.
    public static let unsupportedURL = Self(rawValue: "unsupportedURL")
    /// The transport can't do what the request or its configuration asks for, and refuses to do less.
    public static let unsupported = Self(rawValue: "unsupported")
    /// The request says that nothing may be sent for it (``HTTPContext/sendingForbidden``), and nothing was.
    public static let sendingForbidden = Self(rawValue: "sendingForbidden")
    /// The host name has no address.
    public static let cannotFindHost = Self(rawValue: "cannotFindHost")
    /// No connection could be made.
    public static let cannotConnect = Self(rawValue: "cannotConnect")
    /// No trusted TLS connection could be made.
    public static let tlsFailed = Self(rawValue: "tlsFailed")
    /// The connection ended before the response began.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// A time limit passed; the message says which.
    public static let timedOut = Self(rawValue: "timedOut")
    /// The response ended before its content was complete.
    public static let truncated = Self(rawValue: "truncated")
    /// What came back is no HTTP response.
    public static let invalidResponse = Self(rawValue: "invalidResponse")
    /// A body is longer than the limit it was read with.
    public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
    /// A one-shot body was to be read a second time.
    public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
    /// A body gave more or fewer bytes than it had announced.
    public static let bodyLengthMismatch = Self(rawValue: "bodyLengthMismatch")
    /// A file that should be a body is none, or can't be read.
    public static let unreadableFile = Self(rawValue: "unreadableFile")
    /// A file can't be written: its folder is missing, the disk is full, and the like.
    public static let unwritableFile = Self(rawValue: "unwritableFile")
    /// A streamed response ran ahead of its reader by more than the transport may hold.
    public static let readerTooSlow = Self(rawValue: "readerTooSlow")
    /// A stub transport had no answer.
    public static let noStub = Self(rawValue: "noStub")
    /// Anything else; the message and the underlying error say what.
    public static let other = Self(rawValue: "other")
}

extension TransportError {
    static func bodyTooLarge(limit: some BinaryInteger, request: HTTPRequest? = nil) -> Self {
        Self(.bodyTooLarge, "The body is longer than the limit of \(limit) bytes.", request: request)
    }

    /// The error of whoever would have to send or read a one-shot body again.
    public static func bodyNotReplayable(request: HTTPRequest? = nil) -> Self {
        Self(
            .bodyNotReplayable,
            "The body is a one-shot stream and was used up: it can't be read or sent again."
                + " Use HTTPBody.restartable, bytes or a file.",
            request: request
        )
    }

    static func lengthMismatch(announced: Int64, got count: Int64) -> Self {
        let relation = count > announced ? "more than" : "only \(count) of"
        return Self(.bodyLengthMismatch, "The body gave \(relation) the \(announced) bytes it had announced.")
    }
}

extension TransportError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// Code, message and request, without secrets.
    public var description: String {
        var text = "TransportError.\(code): \(message)"
        if let method, let url { text += " (\(method) \(url))" }
        if let underlying { text += " Cause: \(underlying)" }
        return text
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
