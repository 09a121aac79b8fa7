public import Interceptors

/// Thrown when an upload can't be continued.
///
/// ```swift
/// do {
///     let film = try HTTPBody(file: file)
///     let resuming = UploadResuming.draft.acrossLaunches(from: saved) { upload in remember(upload) }
///     try await api.upload(.raw(film, type: "video/mp4"), to: "/films", resuming: resuming)
/// } catch let error as UploadError where error.code == .uploadContentChanged {
///     if let saved { try await api.cancelUpload(saved) }      // the file was edited: begin from the start
/// }
/// ```
public struct UploadError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for a person: the failure, and a remedy.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// The response that the error was made from, without its body.
    public let response: HTTPResponse?
    /// Details about the failed call, such as its attempts.
    public var context = HTTPContext()
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }
    /// Whether nothing was sent, because the upload was refused first.
    public let sentNothing: Bool

    /// Creates an error about an upload.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request. The error keeps its method and its redacted URL.
    ///   - response: the response that caused the error. Its body is left out.
    ///   - sentNothing: whether nothing was sent; by default something was.
    public init(
        _ code: HTTPErrorCode,
        _ message: String,
        request: HTTPRequest? = nil,
        response: HTTPResponse? = nil,
        sentNothing: Bool = false
    ) {
        self.sentNothing = sentNothing
        self.code = code
        self.message = message
        self.request = request?.summary
        self.response = response.map { response in
            var copy = response
            copy.body = .empty
            return copy
        }
    }
}

extension HTTPErrorCode {
    /// `UploadError`: the server's offset, length or URL of an upload contradicts the protocol or what was sent.
    public static let invalidUploadResponse = Self(rawValue: "invalidUploadResponse")
    /// `UploadError`: the server doesn't speak the protocol of the upload.
    public static let uploadUnsupported = Self(rawValue: "uploadUnsupported")
    /// `UploadError`: the server doesn't know the upload any more, and its bytes may be complete at the server.
    public static let uploadForgotten = Self(rawValue: "uploadForgotten")
    /// `UploadError`: the content isn't that of the unfinished upload, or the file has changed during the upload.
    public static let uploadContentChanged = Self(rawValue: "uploadContentChanged")
    /// `UploadError`: the unfinished upload was made by another method or at another URL. Nothing was sent.
    public static let uploadTargetChanged = Self(rawValue: "uploadTargetChanged")
    /// `UploadError`: the server accepts the requests of an upload, but none of its bytes.
    public static let uploadStalled = Self(rawValue: "uploadStalled")
}

extension UploadError {
    /// A short English sentence for people.
    public var errorDescription: String? {
        switch code {
        case .uploadContentChanged: "The file has changed since the upload began."
        case .uploadTargetChanged: "The upload was begun for another address."
        case .uploadUnsupported: "The server can't continue uploads."
        case .uploadForgotten: "The server doesn't know the upload any more."
        case .bodyTooLarge: "The file is too large for the server."
        default: "The server didn't accept the upload."
        }
    }
}
