public import Interceptors

/// Thrown when a transfer can't be enqueued, and the error of a transfer that ended without success.
///
/// ```swift
/// func receive(_ end: BackgroundTransfer.End) async throws {
///     switch end.result {
///     case .success: print("\(end.transfer.note) is complete")
///     case .failure(let error) where error.isUnauthorized: try await logIn()
///     case .failure(let error): logger.warning("\(error)")
///     }
/// }
/// ```
public struct BackgroundTransferError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for a person: the failure, and a remedy.
    public let message: String
    /// The method and the redacted URL of the request. `nil` for the end of a transfer, because no URL is kept on disk.
    public let request: HTTPRequest.Summary?
    /// The response whose status isn't a success, without content; otherwise `nil`.
    public let response: HTTPResponse?
    /// The error that caused this one, if it adds information.
    public let underlying: (any Error)?
    /// Details about the failed call.
    public var context = HTTPContext()

    /// Creates an error about a transfer.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request. The error keeps its method and its redacted URL.
    ///   - response: the response whose status isn't a success.
    ///   - underlying: the cause. It must contain no secrets.
    public init(
        _ code: HTTPErrorCode,
        _ message: String,
        request: HTTPRequest? = nil,
        response: HTTPResponse? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.request = request?.summary
        self.response = response
        self.underlying = underlying
    }
}

extension HTTPErrorCode {
    /// `BackgroundTransferError`: an interceptor of the preparing chain answered the request, so nothing was enqueued.
    public static let answeredByChain = Self(rawValue: "answeredByChain")
    /// `BackgroundTransferError`: the identifier belongs to other `BackgroundTransfers` of this process, or to a session of another
    /// process.
    public static let identifierInUse = Self(rawValue: "identifierInUse")
    /// `BackgroundTransferError`: the folder holds the records of other `BackgroundTransfers`, in this process or in another one.
    public static let folderInUse = Self(rawValue: "folderInUse")
    /// `BackgroundTransferError`: the system, or the process that ran the transfer, stopped it without an outcome.
    public static let transferLost = Self(rawValue: "transferLost")
    /// `BackgroundTransferError`: the system cancelled the transfer, for instance because the user quit the app.
    public static let cancelledBySystem = Self(rawValue: "cancelledBySystem")
    /// `BackgroundTransferError`: a redirect led to another origin, which the transfer didn't allow. The received file was dropped.
    public static let redirectedElsewhere = Self(rawValue: "redirectedElsewhere")
}

extension BackgroundTransferError {
    static let ownCodes: Set<HTTPErrorCode> = [
        .answeredByChain, .identifierInUse, .transferLost, .cancelledBySystem, .redirectedElsewhere, .insecureRedirect,
        .unacceptedStatus,
    ]
    private static let codesBeforeSending: Set<HTTPErrorCode> = [
        .answeredByChain, .identifierInUse, .folderInUse, .unsupported,
    ]

    /// Whether nothing was sent, because the transfer was refused first.
    public var sentNothing: Bool { Self.codesBeforeSending.contains(code) }

    /// A short English sentence for people.
    public var errorDescription: String? {
        switch code {
        case .transferLost, .cancelledBySystem: "The transfer was stopped."
        default: generalSentence
        }
    }
}
