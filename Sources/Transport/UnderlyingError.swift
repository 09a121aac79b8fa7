extension HTTPContext {
    private enum UnderlyingErrorKey: HTTPContextKey { static var defaultValue: (any Error)? { nil } }

    /// On a cache's own 504: the error that the request to the server failed with. An error made from this response has the same
    /// error as ``HTTPError/underlying``.
    public package(set) var underlyingError: (any Error)? {
        get { self[UnderlyingErrorKey.self] }
        set { self[UnderlyingErrorKey.self] = newValue }
    }
}
