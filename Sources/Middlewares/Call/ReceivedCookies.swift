public import InterceptorsCore

extension HTTPResponse {
    /// The `Set-Cookie` fields that the server sent for this call, for a cookie jar to take.
    ///
    /// A cache stores and replays `Set-Cookie` like any other field (RFC 9111 §3.1, §7.3). A jar that took a replayed field
    /// would overwrite newer cookies, and could sign the user out. So this leaves out the fields of a stored response. It
    /// includes those of a 304 that confirms the stored response, or of a failed response that it replaces.
    public var receivedCookies: HTTPFields {
        if let received = context.cookiesFromServer { return received }
        if context.cacheOutcome?.result.isStored ?? false { return [:] }
        guard headers.contains(.setCookie) else { return [:] }
        return HTTPFields(headers.filter { $0.name == .setCookie })
    }
}

extension HTTPContext {
    private enum CookiesFromServerKey: HTTPContextKey { static var defaultValue: HTTPFields? { nil } }

    /// On a response that a cache answered or passed on: the `Set-Cookie` fields that the server sent for this call, if the
    /// response's own fields don't tell.
    package var cookiesFromServer: HTTPFields? {
        get { self[CookiesFromServerKey.self] }
        set { self[CookiesFromServerKey.self] = newValue }
    }
}
