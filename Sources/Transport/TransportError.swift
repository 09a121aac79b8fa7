/// Thrown when a request gets no response, or when a body can't be read.
///
/// The description names the request, with secrets redacted. A cancelled call throws `CancellationError` instead.
public struct TransportError: HTTPError {
    /// The kind of failure. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `timedOut`.
        public let rawValue: String
        /// Creates a code from its name, for transports that need additional codes.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// A message for a person: the failure, and a remedy.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// The error that caused this one, if it adds information.
    public let underlying: (any Error)?
    /// Details about the failed call, such as the attempts made.
    public var context = HTTPContext()

    /// Creates an error about a request.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request. The error keeps its method and its redacted URL.
    ///   - underlying: the cause. It must contain no secrets.
    public init(
        _ code: Code,
        _ message: String,
        request: HTTPRequest? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.request = request?.summary
        self.underlying = underlying
    }
}

extension TransportError.Code {
    /// The request is malformed: a control character in a field, a method that isn't a token, or a similar fault.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The URL isn't an absolute http or https URL with a host.
    public static let unsupportedURL = Self(rawValue: "unsupportedURL")
    /// The transport can't do everything the request or its configuration demands, so it refuses to send.
    public static let unsupported = Self(rawValue: "unsupported")
    /// The request's context forbids sending (``HTTPContext/sendingForbidden``), and nothing was sent.
    public static let sendingForbidden = Self(rawValue: "sendingForbidden")
    /// The host name has no address.
    public static let cannotFindHost = Self(rawValue: "cannotFindHost")
    /// No connection could be made.
    public static let cannotConnect = Self(rawValue: "cannotConnect")
    /// No trusted TLS connection could be made.
    public static let tlsFailed = Self(rawValue: "tlsFailed")
    /// The connection ended before the response began.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// A time limit passed. The message names the limit.
    public static let timedOut = Self(rawValue: "timedOut")
    /// The response ended before its content was complete.
    public static let truncated = Self(rawValue: "truncated")
    /// The received bytes aren't an HTTP response.
    public static let invalidResponse = Self(rawValue: "invalidResponse")
    /// A body exceeds the limit set for reading it.
    public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
    /// A one-shot body can't be read a second time.
    public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
    /// A body has more or fewer bytes than announced.
    public static let bodyLengthMismatch = Self(rawValue: "bodyLengthMismatch")
    /// A file can't serve as a body: it isn't a regular file, or it can't be read.
    public static let unreadableFile = Self(rawValue: "unreadableFile")
    /// A file can't be written, for example because its folder is missing or the disk is full.
    public static let unwritableFile = Self(rawValue: "unwritableFile")
    /// A streamed response got ahead of its reader by more than the transport may hold.
    public static let readerTooSlow = Self(rawValue: "readerTooSlow")
    /// A stub transport had no answer for the request.
    public static let noStub = Self(rawValue: "noStub")
    /// Any other failure. The message and the underlying error describe it.
    public static let other = Self(rawValue: "other")
}

extension TransportError {
    static func bodyTooLarge(limit: some BinaryInteger, request: HTTPRequest? = nil) -> Self {
        Self(.bodyTooLarge, "The body is longer than the limit of \(limit) bytes.", request: request)
    }

    /// The error to throw if a one-shot body would have to be sent or read again.
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

extension TransportError {
    /// The name of the code, such as `TransportError.timedOut`.
    public var codeName: String { "TransportError.\(code)" }

    /// Whether the code proves that nothing was sent, or the deadline of the call passed while the request waited to be sent.
    ///
    /// ``Code/tlsFailed`` proves nothing, because a server may reject a client certificate after it received the request.
    public var sentNothing: Bool { Self.unsentCodes.contains(code) || underlying is UnsentError }

    private static let unsentCodes: Set<Code> = [
        .cannotFindHost, .cannotConnect, .invalidRequest, .sendingForbidden, .unsupportedURL,
    ]

    /// A short English sentence for people, such as "The server can't be reached."
    public var errorDescription: String? {
        if isOffline || isTimeout { return ErrorSentence.about(self) }
        return ErrorSentence.about(code) ?? ErrorSentence.about(self)
    }
}
