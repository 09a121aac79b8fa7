public import Interceptors

/// Thrown when a download can't be saved as the right file, an upload can't be continued, or a background transfer can't be enqueued.
/// Also the error of a background transfer that ended without success.
///
/// After the error of a download, the destination is unchanged: it holds the earlier file, if any.
///
/// ```swift
/// do {
///     let film = try HTTPBody(file: file)
///     let resuming = UploadResuming.draft.acrossLaunches(from: saved) { upload in remember(upload) }
///     try await api.upload(.stream(film, type: "video/mp4"), to: "/films", resuming: resuming)
/// } catch let error as TransferError where error.code == .uploadContentChanged {
///     if let saved { try await api.cancelUpload(saved) }      // the file was edited: begin from the start
/// }
/// ```
public struct TransferError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for a person: the failure, and a remedy.
    public let message: String
    /// The method and the redacted URL of the request. `nil` for the end of a background transfer, because no URL is kept on disk.
    public let request: HTTPRequest.Summary?
    /// The response that the error was made from, without its body.
    public let response: HTTPResponse?
    /// `nil`: the message says what is known.
    public var underlying: (any Error)? { nil }
    /// Details about the failed call, such as its attempts.
    public var context = HTTPContext()
    /// Whether nothing was sent, because the transfer was refused first: with the codes `downloadInProgress`,
    /// `uploadTargetChanged`, `answeredByChain`, `identifierInUse`, `folderInUse` and `unsupported`, and with
    /// `uploadContentChanged` before the first request.
    public let sentNothing: Bool

    /// Creates an error about a transfer.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request. The error keeps its method and its redacted URL.
    ///   - response: the response that caused the error. Its body is left out.
    ///   - sentNothing: whether nothing was sent; by default what the code says.
    public init(
        _ code: HTTPErrorCode,
        _ message: String,
        request: HTTPRequest? = nil,
        response: HTTPResponse? = nil,
        sentNothing: Bool? = nil
    ) {
        self.code = code
        self.message = message
        self.request = request?.summary
        self.response = response?.head
        self.sentNothing = sentNothing ?? Self.codesBeforeSending.contains(code)
    }

    private static let codesBeforeSending: Set<HTTPErrorCode> = [
        .downloadInProgress, .uploadTargetChanged, .answeredByChain, .identifierInUse, .folderInUse, .unsupported,
    ]
}

// The codes of downloads.
extension HTTPErrorCode {
    /// `TransferError`: the downloaded bytes don't have the expected digest. The bytes are removed.
    public static let digestMismatch = Self(rawValue: "digestMismatch")
    /// `TransferError`: the server sent a part of the content that nobody asked for, or more bytes than it announced.
    public static let invalidRange = Self(rawValue: "invalidRange")
    /// `TransferError`: another download to the same file is in progress, in this process or in another one. Nothing was sent.
    public static let downloadInProgress = Self(rawValue: "downloadInProgress")
    /// `TransferError`: the disk, or the user's share of it, is full. A download across launches keeps the bytes it has.
    public static let diskFull = Self(rawValue: "diskFull")
}

// The codes of resumed uploads.
extension HTTPErrorCode {
    /// `TransferError`: the server's offset, length or URL of an upload contradicts the protocol or what was sent.
    public static let invalidUploadResponse = Self(rawValue: "invalidUploadResponse")
    /// `TransferError`: the server doesn't speak the protocol of the upload.
    public static let uploadUnsupported = Self(rawValue: "uploadUnsupported")
    /// `TransferError`: the server doesn't know the upload any more, and its bytes may be complete at the server.
    public static let uploadForgotten = Self(rawValue: "uploadForgotten")
    /// `TransferError`: the content isn't that of the unfinished upload, or the file has changed during the upload.
    public static let uploadContentChanged = Self(rawValue: "uploadContentChanged")
    /// `TransferError`: the unfinished upload was made by another method or at another URL. Nothing was sent.
    public static let uploadTargetChanged = Self(rawValue: "uploadTargetChanged")
    /// `TransferError`: the server accepts the requests of an upload, but none of its bytes.
    public static let uploadStalled = Self(rawValue: "uploadStalled")
}

// The codes of background transfers.
extension HTTPErrorCode {
    /// `TransferError`: an interceptor of the preparing chain answered the request, so nothing was enqueued.
    public static let answeredByChain = Self(rawValue: "answeredByChain")
    /// `TransferError`: the identifier belongs to other `BackgroundTransfers` of this process, or to a session of another process.
    public static let identifierInUse = Self(rawValue: "identifierInUse")
    /// `TransferError`: the folder holds the records of other `BackgroundTransfers`, in this process or in another one.
    public static let folderInUse = Self(rawValue: "folderInUse")
    /// `TransferError`: the system, or the process that ran the transfer, stopped it without an outcome.
    public static let transferLost = Self(rawValue: "transferLost")
    /// `TransferError`: the system cancelled the transfer, for instance because the user quit the app.
    public static let cancelledBySystem = Self(rawValue: "cancelledBySystem")
    /// `TransferError`: a redirect led to another origin, which the transfer didn't allow. The received file was dropped.
    public static let redirectedElsewhere = Self(rawValue: "redirectedElsewhere")
}

extension TransferError {
    /// A short English sentence for people.
    public var errorDescription: String? {
        switch code {
        case .digestMismatch: "The downloaded file is damaged."
        case .downloadInProgress: "The file is already being downloaded."
        case .diskFull: "The file can't be saved, because the disk is full."
        case .uploadContentChanged: "The file has changed since the upload began."
        case .uploadTargetChanged: "The upload was begun for another address."
        case .uploadUnsupported: "The server can't continue uploads."
        case .uploadForgotten: "The server doesn't know the upload any more."
        case .bodyTooLarge: "The file is too large for the server."
        case .invalidUploadResponse, .uploadStalled: "The server didn't accept the upload."
        case .transferLost, .cancelledBySystem: "The transfer was stopped."
        default: generalSentence
        }
    }
}
