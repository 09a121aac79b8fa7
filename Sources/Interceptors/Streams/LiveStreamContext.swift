public import InterceptorsTransport

extension HTTPContext {
    private enum LiveStreamKey: HTTPContextKey { static var defaultValue: Bool { false } }

    /// On a request: whether the response is a live stream, which may last for hours.
    ///
    /// ``Client/events(_:after:upTo:idleLimit:reconnection:query:headers:context:time:)`` sets it. `limitConcurrency` releases
    /// the permit of such a request with the response's head, so that a few streams don't stop all other requests. `cache`
    /// passes a safe request on and stores nothing.
    public var isLiveStream: Bool {
        get { self[LiveStreamKey.self] }
        set { self[LiveStreamKey.self] = newValue }
    }
}
