internal import InterceptorsSyntax

/// The reason that a 401 went to the caller. The description of its error and the journal give the reason.
struct UnansweredChallenge: ContextNote, Error {
    /// A sentence without secrets.
    let reason: String

    var note: String? { reason }

    static let rejected = Self(reason: "The server rejected the password that it was sent.")
    static let alreadyRejected = Self(reason: "No password was sent, because the server rejected this one before.")
    static let noCredential = Self(reason: "No password was sent, because the closure has none for the server's realm.")
    static let signedOut = Self(reason: "No password was sent, because the session was signed out meanwhile.")
    static let notRenewed = Self(reason: "The rejected password wasn't replaced: the request says `.notRenewed`.")
    static let oneShotBody = Self(
        reason: "The digest has to cover the content (auth-int), which can be read only once: use HTTPBody.restartable."
    )
    static let changedMethod = Self(
        reason: "The challenge came after a redirect that changed the method, so the request can't be sent again."
    )
    static let afterRedirect = Self(reason: "The challenge came from another origin, where a redirect led.")

    /// The reason for a server that may not get the password.
    static func anotherOrigin(_ origin: Origin?, allowed: Set<Origin>, by element: String) -> Self {
        let target = origin.map { "\($0)" } ?? "this URL"
        let origins = allowed.map { "\($0)" }.sorted().shortened(", ")
        return Self(
            reason: "The password is for \(origins.isEmpty ? "no origin" : origins), and wasn't sent to \(target)."
                + " \(element)(origins:) names the origins."
        )
    }

    /// The reason that none of a response's challenges can be answered.
    static func unanswerable(
        _ challenges: [Challenge],
        _ schemes: Set<PasswordScheme>,
        _ origin: Origin,
        rejected: PasswordAuthAnswer?
    ) -> Self {
        func offers(_ scheme: PasswordScheme) -> Bool {
            schemes.contains(scheme) && challenges.contains { $0.scheme == scheme.name }
        }
        guard !challenges.isEmpty else { return Self(reason: "The response has no challenge that can be read.") }
        if offers(.basic), schemes.contains(.digest), rejected == nil, origin.scheme != "https" {
            return Self(
                reason: "basic isn't answered over http where digest is allowed too, because anyone on the way could"
                    + " ask for the password in clear. On a network that you trust, use basicAuth."
            )
        }
        if rejected != nil, offers(.basic) || offers(.digest) { return .rejected }
        if offers(.digest) {
            let names = challenges.filter { $0.scheme == "digest" }
                .map { "\($0.parameters["algorithm"] ?? "MD5"), \($0.parameters["qop"] ?? "no qop")" }
            return Self(reason: "No digest of the server's kind can be made: \(shown(names)).")
        }
        let known = schemes.map(\.name).sorted().joined(separator: " or ")
        return Self(reason: "The server asks for \(shown(challenges.map(\.scheme))), and only \(known) is answered.")
    }

    // The server chose the texts.
    private static func shown(_ texts: [String]) -> String {
        texts.map { PrintableText.line(String($0.prefix(40))) }.shortened("; ")
    }
}

extension HTTPContext {
    private enum UnansweredChallengeKey: HTTPContextKey { static var defaultValue: UnansweredChallenge? { nil } }

    /// On a 401: the reason that no password was sent, or no other one.
    var unansweredChallenge: UnansweredChallenge? {
        get { self[UnansweredChallengeKey.self] }
        set { self[UnansweredChallengeKey.self] = newValue }
    }
}
