/// The challenges of a 401 or 407 that can be answered.
struct ChallengeOffer: Sendable {
    /// The strongest digest challenge.
    var digest: DigestChallenge?
    /// The realm of a basic challenge, where there is nothing better.
    var basicRealm: String?
    // Sent again as it was, it would be the same field, whatever realm asks for it.
    private var rejectedBasic: PasswordCredential?
    /// Whether the server says that it was only the nonce that it didn't accept.
    var isStale: Bool

    /// Whose password is asked for; `nil` where there is nothing to answer.
    var realm: String? { digest?.realm ?? basicRealm }

    /// Whether this credential would be an answer, and not the one that was rejected.
    func isAnswered(by credential: PasswordCredential) -> Bool { digest != nil || credential != rejectedBasic }

    init(
        _ response: HTTPResponse,
        _ schemes: Set<PasswordAuthInterceptor.Scheme>,
        _ origin: Origin,
        by challenger: Challenger = .server,
        rejected: PasswordAuthAnswer?,
        wasInAdvance: Bool
    ) {
        let challenges = Challenge.all(in: response.headerFields, challenger.challenge)
        let digests = challenges.compactMap(DigestChallenge.init)
        isStale = digests.contains { challenge in
            if case .digest(let answer) = rejected {
                challenge.isStale && challenge.realm == answer.challenge.realm
            } else {
                false
            }
        }
        if schemes.contains(.digest) {
            let open = digests.filter { Self.isOpen($0, after: rejected, wasInAdvance: wasInAdvance) }
            // The server's order is its preference (RFC 7616 §3.7), but MD5 comes after all others.
            digest = open.first { $0.algorithm != .md5 } ?? open.first
        }
        var isDigestOffered = !digests.isEmpty
        switch rejected {
        case .basic(let answer): rejectedBasic = answer.credential
        // A server that spoke digest and offers one that isn't known here, beside basic, may be somebody in between.
        case .digest: isDigestOffered = challenges.contains { $0.scheme == "digest" }
        case nil: break
        }
        // What was sent in advance may have been for another realm, or for an older password.
        guard digest == nil, rejected == nil || wasInAdvance, schemes.contains(.basic),
            !schemes.contains(.digest) || origin.scheme == "https" && !isDigestOffered
        else { return }
        basicRealm = challenges.first { $0.scheme == "basic" && $0.parameters["realm"] != nil }?.parameters["realm"]
    }

    private static func isOpen(
        _ challenge: DigestChallenge,
        after rejected: PasswordAuthAnswer?,
        wasInAdvance: Bool
    ) -> Bool {
        guard case .digest(let answer) = rejected else { return true }
        let isNew = challenge.nonce != answer.challenge.nonce
        return challenge.realm != answer.challenge.realm || isNew && (challenge.isStale || wasInAdvance)
    }
}
