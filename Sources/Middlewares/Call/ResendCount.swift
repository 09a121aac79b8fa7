extension HTTPContext {
    private enum ResendCountKey: HTTPContextKey { static var defaultValue: Int { 0 } }

    /// On a request: how many times it was sent before for the same call, as far as interceptors outside know; 0 at first.
    ///
    /// `retry`, `followRedirects`, `retryOnUnauthorized`, `httpAuth` and `hedge` each add the times that they passed the
    /// request on before. An interceptor that you write, and that repeats requests, should add 1 for each repeat.
    public var resendCount: Int {
        get { self[ResendCountKey.self] }
        set { self[ResendCountKey.self] = newValue }
    }
}
