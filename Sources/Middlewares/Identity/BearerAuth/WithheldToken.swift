/// A note that `bearerAuth` sent no token, because the request's origin isn't one of the token's.
///
/// The response or error of a 401 carries the note, so that the description of the error gives the reason.
struct WithheldToken: ContextNote {
    /// The request's origin, if the URL has one.
    let origin: Origin?
    /// The origins that may get the token.
    let allowed: [Origin]
    /// The parameter that names the origins.
    var parameter = "TokenStore(origins:)"

    var note: String? {
        let target = origin.map { "\($0)" } ?? "this URL"
        let origins = allowed.map { "\($0)" }.sorted().shortened(", ")
        return
            "bearerAuth added no token for \(target), because its tokens are for \(origins.isEmpty ? "no origin" : origins)."
            + " \(parameter) names the origins."
    }
}

extension HTTPContext {
    private enum WithheldTokenKey: HTTPContextKey { static var defaultValue: WithheldToken? { nil } }
    private enum SentTokenKey: HTTPContextKey { static var defaultValue: Bool { false } }

    /// On a response or an error with status 401: the reason that the request carried no token.
    var withheldToken: WithheldToken? {
        get { self[WithheldTokenKey.self] }
        set { self[WithheldTokenKey.self] = newValue }
    }

    /// On a response with status 401: whether a `bearerAuth` for another origin sent its token.
    var hasSentToken: Bool {
        get { self[SentTokenKey.self] }
        set { self[SentTokenKey.self] = newValue }
    }
}
