public import Interceptors

extension HTTPContext {
    private enum UnderlyingErrorKey: HTTPContextKey { static var defaultValue: (any Error)? { nil } }

    /// On a cache's own 504: the error that the request to the server failed with. A ``StatusError`` for this response
    /// has the same error as ``StatusError/underlying``.
    public internal(set) var underlyingError: (any Error)? {
        get { self[UnderlyingErrorKey.self] }
        set { self[UnderlyingErrorKey.self] = newValue }
    }
}
