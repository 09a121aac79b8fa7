extension HTTPResponse.Status {
    /// Whether the status is that of an interim response: one of 100 to 199, but not 101, which ends HTTP on its connection.
    package var isInterim: Bool { kind == .informational && self != 101 }
}

extension HTTPContext {
    private enum InterimKey: HTTPContextKey {
        static var defaultValue: (@Sendable (HTTPResponse) -> Void)? { nil }
    }

    /// On a request: called with the head of each interim response that precedes the final one (RFC 9110 §15.2), such as `103 Early
    /// Hints` (RFC 8297). Its fields say nothing about the final response.
    ///
    /// ```swift
    /// request.context.interim = { head in
    ///     if head.status == 103 { print(head.headers[values: .link]) }
    /// }
    /// ```
    /// `CurlTransport` calls the closure in the order of arrival, before the response is returned, and never after the call has
    /// ended. The closure must return quickly, because the call waits for it, even if it is cancelled meanwhile. A server that
    /// sends more than 1,000 interim responses, or more than 256 KB of them, fails the call with
    /// ``HTTPErrorCode/invalidResponse``.
    ///
    /// Each attempt has its interim responses, so a retry or a followed redirect calls the closure again. A response from a
    /// cache has none, and neither has the second request of `hedge`. `coalesce` sends a request with a closure by itself.
    ///
    /// `URLSessionTransport` calls the closure on Apple's platforms, from the session's queue, and never on Linux. Treat the heads
    /// as hints: no caller can rely on them.
    public var interim: (@Sendable (_ head: HTTPResponse) -> Void)? {
        get { self[InterimKey.self] }
        set { self[InterimKey.self] = newValue }
    }
}
