internal import InterceptorsSyntax

/// The reasons that a 401 went to the caller.
extension CredentialNote {
    static let rejected = Self(note: "The server rejected the password that it was sent.")
    static let alreadyRejected = Self(note: "No password was sent, because the server rejected this one before.")
    static let noCredential = Self(note: "No password was sent, because the closure has none for the server's realm.")
    static let signedOut = Self(note: "No password was sent, because the session was signed out meanwhile.")
    static let notRenewed = Self(note: "The rejected password wasn't replaced: the request says `.notRenewed`.")
    static let oneShotBody = Self(
        note: "The digest has to cover the content (auth-int), which can be read only once: use HTTPBody.restartable."
    )
    static let changedMethod = Self(
        note: "The challenge came after a redirect that changed the method, so the request can't be sent again."
    )
    static let afterRedirect = Self(note: "The challenge came from another origin, where a redirect led.")

    /// The reason that none of a response's challenges can be answered.
    static func unanswerable(
        _ challenges: [Challenge],
        _ schemes: Set<PasswordScheme>,
        _ origin: Origin,
        rejected: HTTPAuthAnswer?
    ) -> Self {
        func offers(_ scheme: PasswordScheme) -> Bool {
            schemes.contains(scheme) && challenges.contains { $0.scheme == scheme.name }
        }
        guard !challenges.isEmpty else { return Self(note: "The response has no challenge that can be read.") }
        if offers(.basic), schemes.contains(.digest), rejected == nil, origin.scheme != "https" {
            return Self(
                note: "basic isn't answered over http where digest is allowed too, because anyone on the way could"
                    + " ask for the password in clear. On a network that you trust, use basicAuth."
            )
        }
        if rejected != nil, offers(.basic) || offers(.digest) { return .rejected }
        if offers(.digest) {
            let names = challenges.filter { $0.scheme == "digest" }
                .map { "\($0.parameters["algorithm"] ?? "MD5"), \($0.parameters["qop"] ?? "no qop")" }
            return Self(note: "No digest of the server's kind can be made: \(shown(names)).")
        }
        let known = schemes.map(\.name).sorted().joined(separator: " or ")
        return Self(note: "The server asks for \(shown(challenges.map(\.scheme))), and only \(known) is answered.")
    }

    // The server chose the texts.
    private static func shown(_ texts: [String]) -> String {
        texts.map { PrintableText.line(String($0.prefix(40))) }.shortened("; ")
    }
}
