package import Transport

/// The part of a request in an upload that resumes.
package enum UploadRequestRole: Sendable {
    /// The request makes the upload at the server, with or without content.
    case creating
    /// The request goes to the upload's URL.
    case continuing
}

extension HTTPContext {
    private enum UploadRequestKey: HTTPContextKey { static var defaultValue: UploadRequestRole? { nil } }

    /// On a request: its part in an upload that resumes; `nil` if it belongs to no such upload.
    ///
    /// Offsets count bytes as they are sent, so no interceptor may change the content. The upload decides itself when to send
    /// content again, because the server may have a part of it. No cache answers a question for the offset.
    package var uploadRequest: UploadRequestRole? {
        get { self[UploadRequestKey.self] }
        set { self[UploadRequestKey.self] = newValue }
    }
}
