internal import Interceptors

/// A reason why an upload can't go on.
enum UploadFault: Sendable {
    case offsetBeyondLength, offsetBeyondSent, offsetDecreased, offsetMissing
    case lengthChanged, locationChanged, locationInvalid, insecureLocation
    case completeTooEarly
    case unsupported, tooLarge, forgotten, stalled, contentChanged
}

extension UploadFault {
    private var code: HTTPErrorCode {
        switch self {
        case .unsupported: .uploadUnsupported
        case .tooLarge: .bodyTooLarge
        case .forgotten: .uploadForgotten
        case .stalled: .uploadStalled
        case .contentChanged: .uploadContentChanged
        default: .invalidUploadResponse
        }
    }

    private var message: String {
        switch self {
        case .offsetBeyondLength: "The server says that it has more bytes than the content has."
        case .offsetBeyondSent: "The server says that it has bytes that were never sent."
        case .offsetDecreased: "The server says that it has fewer bytes than it has acknowledged before."
        case .offsetMissing: "The server's response has no Upload-Offset."
        case .lengthChanged:
            "The server names another length than that of the content. Begin the upload from the start."
        case .locationChanged: "The server has named two different URLs for one upload."
        case .locationInvalid: "The Location of the upload is missing, or not an http or https URL."
        case .insecureLocation: "The Location of the upload leads from https to http."
        case .completeTooEarly: "The server says that the upload is complete, but it doesn't have the whole content."
        case .unsupported: "The server doesn't speak this protocol of resumable uploads. Pass another `resuming:`."
        case .tooLarge: "The content is larger than the server's limit."
        case .forgotten:
            "The server doesn't know the upload any more. It may have completed it: look before you upload the content again."
        case .contentChanged:
            "The file has changed during the upload, so the server may have parts of two versions. Upload it again when it is at rest."
        case .stalled: "The server accepts requests of the upload, but it takes no more bytes."
        }
    }

    /// Whether nobody can continue the upload after it, so that the server may remove the upload.
    ///
    /// - Parameter isOwn: whether this call has made the upload. With a wrong length, the URL of an earlier launch may be that of
    ///   another upload by now.
    func endsUpload(isOwn: Bool) -> Bool {
        switch self {
        case .offsetBeyondLength, .offsetBeyondSent, .offsetDecreased, .locationChanged, .completeTooEarly, .tooLarge,
            .contentChanged:
            true
        case .lengthChanged: isOwn
        case .offsetMissing, .locationInvalid, .insecureLocation, .unsupported, .forgotten, .stalled: false
        }
    }

    func error(of request: HTTPRequest, _ response: HTTPResponse?) -> TransferError {
        TransferError(code, message, request: request, response: response)
    }
}
