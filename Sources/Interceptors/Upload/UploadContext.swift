package import InterceptorsTransport

/// The part of a request in an upload that resumes.
package enum UploadRequestRole: Sendable {
    /// The request makes the upload at the server, with or without content.
    case creating(UploadCreation)
    /// The request goes to the upload's URL.
    case continuing
}

/// The state of a request that makes an upload, for interceptors that send requests again.
package struct UploadCreation: Sendable {
    /// Whether the server has named the upload. The upload then goes on by itself: the same request would make a second one.
    package let isNamed: @Sendable () -> Bool
    /// Call this before the same upload is made once more, because the server has refused or redirected the request. A name that the
    /// server has given it before no longer counts.
    package let restart: @Sendable () -> Void

    package init(isNamed: @escaping @Sendable () -> Bool, restart: @escaping @Sendable () -> Void) {
        self.isNamed = isNamed
        self.restart = restart
    }
}

extension UploadRequestRole {
    /// Whether the request goes to the upload's URL.
    package var isContinuing: Bool { if case .continuing = self { true } else { false } }

    /// The state of the request that makes the upload, if this is one.
    package var creation: UploadCreation? { if case .creating(let creation) = self { creation } else { nil } }
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
