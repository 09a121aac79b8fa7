/// Facts about a response that no server said.
private struct ResponseOrigin: Sendable {
    var isBodyCutOff = false
    var isMadeLocally = false
    var underlyingError: (any Error)?
}

extension HTTPContext {
    private enum OriginKey: HTTPContextKey { static var defaultValue: ResponseOrigin { ResponseOrigin() } }

    /// On a response: whether this program made the response, because no server could be reached or sending was forbidden.
    package var isMadeLocally: Bool {
        get { self[OriginKey.self].isMadeLocally }
        set { self[OriginKey.self].isMadeLocally = newValue }
    }

    /// On a cache's own 504: the error that the request to the server failed with. An error made from this response has the same
    /// error as ``HTTPError/underlying``.
    public package(set) var underlyingError: (any Error)? {
        get { self[OriginKey.self].underlyingError }
        set { self[OriginKey.self].underlyingError = newValue }
    }

    fileprivate var isBodyCutOff: Bool {
        get { self[OriginKey.self].isBodyCutOff }
        set { self[OriginKey.self].isBodyCutOff = newValue }
    }
}

extension HTTPResponse {
    /// Whether the body is complete. `false` for the response of an error that kept only the beginning of the body.
    package var isBodyComplete: Bool { !context.isBodyCutOff }

    /// The response of an error, which says whether its body is complete.
    package func with(isBodyComplete: Bool) -> HTTPResponse {
        guard !isBodyComplete else { return self }
        var response = self
        response.context.isBodyCutOff = true
        return response
    }
}
