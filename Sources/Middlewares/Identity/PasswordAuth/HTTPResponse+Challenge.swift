extension HTTPResponse {
    /// Whether the response is a challenge of an origin (RFC 9110 §11.6.1).
    func isChallenge(of origin: Origin) -> Bool {
        status == 401 && !context.hasChangedMethod && mayBeFrom(origin)
    }

    /// The reason that a 401 doesn't count as a challenge; `nil` for any other response.
    var disregardedChallenge: UnansweredChallenge? {
        guard status == 401 else { return nil }
        return context.hasChangedMethod ? .changedMethod : .afterRedirect
    }

    /// Whether an origin sent the response. An interceptor inside may have followed a redirect to another origin.
    func mayBeFrom(_ origin: Origin) -> Bool { url.flatMap(Origin.init).map { $0 == origin } ?? true }
}
