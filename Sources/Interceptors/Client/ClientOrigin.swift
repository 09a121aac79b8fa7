extension HTTPContext {
    private enum ClientOriginKey: HTTPContextKey { static var defaultValue: Origin? { nil } }

    /// On a request: the origin of the base URL of the ``Client`` that made it; `nil` without a client or a base URL.
    ///
    /// It is the origin that credentials may be bound to when nothing else says. It stays the same when a redirect or an
    /// absolute URL leads elsewhere: whoever adds credentials compares it with the origin of the request's URL.
    public var clientOrigin: Origin? {
        get { self[ClientOriginKey.self] }
        set { self[ClientOriginKey.self] = newValue }
    }
}
