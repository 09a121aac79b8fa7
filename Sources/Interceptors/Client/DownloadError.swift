internal import InterceptorsTransport

/// Thrown when a download can't be saved as the right file.
///
/// The destination is unchanged: it holds the earlier file, if any.
///
/// ```swift
/// do {
///     try await api.download("/film.mp4", to: file, expecting: .sha256(sum))
/// } catch let error as DownloadError where error.code == .digestMismatch {
///     logger.warning(error.description)
/// }
/// ```
public struct DownloadError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for a person: the failure, and a remedy. It names the file.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// The error that caused this one, if it adds information.
    public let underlying: (any Error)?
    /// Details about the failed call, such as its attempts.
    public var context = HTTPContext()
    /// The response of ``underlying``, if any.
    public var response: HTTPResponse? { responseOfCause }

    /// Creates an error about a download.
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
    /// `DownloadError`: the downloaded bytes don't have the expected digest, or not the digest that the server announced. The
    /// bytes are removed.
    public static let digestMismatch = Self(rawValue: "digestMismatch")
    /// `DownloadError`: the server sent a part of the content that nobody asked for, or more bytes than it announced.
    public static let invalidRange = Self(rawValue: "invalidRange")
    /// `DownloadError`: another download to the same file is in progress, in this process or in another one. Nothing was sent.
    public static let downloadInProgress = Self(rawValue: "downloadInProgress")
    /// `DownloadError`: the disk, or the user's share of it, is full. A download across launches keeps the bytes it has.
    public static let diskFull = Self(rawValue: "diskFull")
}

extension DownloadError {
    /// Whether nothing was sent, because the download was refused first.
    public var sentNothing: Bool { code == .downloadInProgress }

    /// A short English sentence for people.
    public var errorDescription: String? {
        switch code {
        case .digestMismatch: "The downloaded file is damaged."
        case .downloadInProgress: "The file is already being downloaded."
        case .diskFull: "The file can't be saved, because the disk is full."
        default: generalSentence
        }
    }
}

extension DownloadError {
    /// The error of a response whose status isn't a success. The cause has the response.
    init(_ failure: DecodingFailure, request: HTTPRequest) {
        let message = "No file was saved, because the server answered \(failure.status.code)."
        self.init(failure.code, message, request: request, underlying: failure)
        context = failure.context
    }
}
