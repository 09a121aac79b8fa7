/// Thrown when a request gets no response, or when a body can't be read.
///
/// The description names the request, with secrets redacted. A cancelled call throws `CancellationError` instead.
public struct TransportError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for a person: the failure, and a remedy.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public private(set) var request: HTTPRequest.Summary?
    /// The error that caused this one, if it adds information.
    public let underlying: (any Error)?
    /// Details about the failed call, such as the attempts made.
    public var context = HTTPContext()
    /// The response of ``underlying``, if any.
    public var response: HTTPResponse? { responseOfCause }
    /// Whether the call failed before anything could be sent, whatever the code.
    package var precedesSending = false

    /// Creates an error about a request.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request. The error keeps its method and its redacted URL.
    ///   - underlying: the cause. It must contain no secrets.
    public init(
        _ code: HTTPErrorCode,
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

extension HTTPErrorCode {
    /// `TransportError`: the request is malformed: a control character in a field, a method that isn't a token, or a similar fault.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// `TransportError`: the URL isn't an absolute http or https URL with a host.
    public static let unsupportedURL = Self(rawValue: "unsupportedURL")
    /// `TransportError`, `AuthenticationError`, `TransferError`: the transport, the platform or
    /// the system's cryptography can't do what the request or the settings demand, so the request isn't sent.
    public static let unsupported = Self(rawValue: "unsupported")
    /// `TransportError`: the request's context forbids sending (``HTTPContext/sendingForbidden``), and nothing was sent.
    public static let sendingForbidden = Self(rawValue: "sendingForbidden")
    /// `TransportError`: an interceptor that answers several requests with one response is outside of one that adds a credential, and
    /// can't tell users apart. Nothing was sent.
    public static let sharedResponse = Self(rawValue: "sharedResponse")
    /// `TransportError`: no connection could be made, because the device has no network.
    public static let offline = Self(rawValue: "offline")
    /// `TransportError`: the host name has no address.
    public static let cannotFindHost = Self(rawValue: "cannotFindHost")
    /// `TransportError`: no connection could be made.
    public static let cannotConnect = Self(rawValue: "cannotConnect")
    /// `TransportError`: no trusted TLS connection could be made.
    public static let tlsFailed = Self(rawValue: "tlsFailed")
    /// `TransportError`: the connection ended before the response began.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// `TransportError`: a time limit passed. The message names the limit.
    public static let timedOut = Self(rawValue: "timedOut")
    /// `TransportError`: the response ended before its content was complete.
    public static let truncated = Self(rawValue: "truncated")
    /// `TransportError`, `TransferError`: the received bytes aren't an HTTP response, or the content has a coding that nobody
    /// asked for.
    public static let invalidResponse = Self(rawValue: "invalidResponse")
    /// `TransportError`, `CacheStoreError`, `TransferError`: a body is longer than the limit for reading or storing it, or
    /// longer than the server takes.
    public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
    /// `TransportError`: a one-shot body would have to be read a second time.
    public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
    /// `TransportError`, `CacheStoreError`: a body has more or fewer bytes than announced.
    public static let bodyLengthMismatch = Self(rawValue: "bodyLengthMismatch")
    /// `TransportError`: the source of a body failed with an error that is about another request. ``HTTPError/underlying`` is that
    /// error.
    public static let bodySourceFailed = Self(rawValue: "bodySourceFailed")
    /// `TransportError`: a file is missing, isn't a regular file, or can't be read.
    public static let unreadableFile = Self(rawValue: "unreadableFile")
    /// `TransportError`: a file can't be written, for example because its folder is missing or the disk is full.
    public static let unwritableFile = Self(rawValue: "unwritableFile")
    /// `TransportError`: a streamed response got ahead of its reader by more than the transport may hold.
    public static let readerTooSlow = Self(rawValue: "readerTooSlow")
    /// `TransportError`: a stub transport had no answer for the request.
    public static let noStub = Self(rawValue: "noStub")
    /// `TransportError`: any other failure of a transport. The message and the underlying error describe it.
    public static let transportFailed = Self(rawValue: "transportFailed")
}

extension TransportError {
    package static func bodyTooLarge(limit: some BinaryInteger, request: HTTPRequest? = nil) -> Self {
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

    /// The error of reading a body whose source failed with an error about another request.
    static func bodySourceFailed(_ error: any Error) -> Self {
        Self(.bodySourceFailed, "The body's source failed while the body was read.", underlying: error)
    }

    /// This error about a request, for errors of a body, which doesn't know its request.
    package func withRequest(_ request: HTTPRequest) -> Self {
        var error = self
        error.request = request.summary
        return error
    }

    static func lengthMismatch(announced: Int64, got count: Int64) -> Self {
        let relation = count > announced ? "more than" : "only \(count) of"
        return Self(.bodyLengthMismatch, "The body gave \(relation) the \(announced) bytes it had announced.")
    }
}

extension TransportError {
    /// Whether the code proves that nothing was sent, a limit or the deadline of the call passed while the request waited to be
    /// sent, the request could not be signed, or `CurlTransport` failed before it had a connection.
    ///
    /// The codes that prove it are `sharedResponse`, `offline`, `cannotFindHost`, `cannotConnect`, `invalidRequest`,
    /// `unsupportedURL` and `sendingForbidden`.
    ///
    /// The code ``HTTPErrorCode/tlsFailed`` alone proves nothing, because a server may reject a client certificate after it received
    /// the request.
    public var sentNothing: Bool {
        precedesSending || Self.unsentCodes.contains(code) || underlying is UnsentError
    }

    private static let unsentCodes: Set<HTTPErrorCode> = [
        .offline, .cannotFindHost, .cannotConnect, .invalidRequest, .sendingForbidden, .sharedResponse,
        .unsupportedURL,
    ]

    /// A short English sentence for people, such as "The server can't be reached."
    public var errorDescription: String? {
        if isOffline || isTimeout { return ErrorSentence.about(self) }
        return ErrorSentence.about(code) ?? ErrorSentence.about(self)
    }
}
