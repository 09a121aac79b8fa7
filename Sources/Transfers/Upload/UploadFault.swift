internal import Interceptors

/// A reason why an upload can't go on.
struct UploadFault: Sendable, Hashable {
    private let code: HTTPErrorCode
    private let message: String
    private let end: End

    /// Whether nobody can continue the upload after it, so that the server may remove the upload.
    private enum End {
        case none, always
        /// Only of an upload that this call has made: the URL of an earlier launch may be that of another upload by now.
        case ofOwn
    }

    private init(_ message: String, _ code: HTTPErrorCode = .invalidUploadResponse, end: End = .none) {
        (self.message, self.code, self.end) = (message, code, end)
    }

    /// - Parameter isOwn: whether this call has made the upload.
    func endsUpload(isOwn: Bool) -> Bool { end == .always || end == .ofOwn && isOwn }

    func error(of request: HTTPRequest, _ response: HTTPResponse?) -> TransferError {
        TransferError(code, message, request: request, response: response)
    }
}

extension UploadFault {
    static let offsetBeyondLength = Self("The server says that it has more bytes than the content has.", end: .always)
    static let offsetBeyondSent = Self("The server says that it has bytes that were never sent.", end: .always)
    static let offsetDecreased = Self("The server has fewer bytes than it has acknowledged before.", end: .always)
    static let offsetMissing = Self("The server's response has no Upload-Offset.")
    static let lengthChanged = Self(
        "The server names another length than that of the content. Begin the upload from the start.",
        end: .ofOwn
    )
    static let locationChanged = Self("The server has named two different URLs for one upload.", end: .always)
    static let locationInvalid = Self("The Location of the upload is missing, or not an http or https URL.")
    static let insecureLocation = Self("The Location of the upload leads from https to http.")
    static let completeTooEarly = Self(
        "The server says that the upload is complete, but it doesn't have the whole content.",
        end: .always
    )
    static let unsupported = Self(
        "The server doesn't speak this protocol of resumable uploads. Pass another `resuming:`.",
        .uploadUnsupported
    )
    static let tooLarge = Self("The content is larger than the server's limit.", .bodyTooLarge, end: .always)
    static let forgotten = Self(
        "The server doesn't know the upload any more. It may have completed it: look before you upload the content again.",
        .uploadForgotten
    )
    static let contentChanged = Self(
        "The file has changed during the upload, so the server may have parts of two versions. Upload it again when it is at rest.",
        .uploadContentChanged,
        end: .always
    )
    static let stalled = Self("The server accepts requests of the upload, but it takes no more bytes.", .uploadStalled)
}
