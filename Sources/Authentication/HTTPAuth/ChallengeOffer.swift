internal import InterceptorsSyntax

/// The challenges of a 401 that this interceptor can answer.
struct ChallengeOffer: Sendable {
    /// The strongest digest challenge.
    var digest: DigestChallenge?
    /// The realm of the basic challenge; `nil` unless a basic challenge is the best on offer.
    var basicRealm: String?
    // The basic credential that the server just rejected. Sent again, the field would be identical, whatever the realm.
    private var rejectedBasic: PasswordCredential?
    /// Whether the server rejected only the nonce (RFC 7616 §3.3, `stale`).
    var isStale: Bool
    /// The reason that there is nothing to answer, if ``realm`` is `nil`.
    private(set) var refusal: CredentialNote?

    /// The realm to answer; `nil` if there is nothing to answer.
    var realm: String? { digest?.realm ?? basicRealm }

    /// Whether this credential answers the challenge, and isn't the basic credential just rejected.
    func isAnswered(by credential: PasswordCredential) -> Bool { digest != nil || credential != rejectedBasic }

    init(
        _ response: HTTPResponse,
        _ schemes: Set<PasswordScheme>,
        _ origin: Origin,
        rejected: HTTPAuthAnswer?,
        wasInAdvance: Bool
    ) {
        let challenges = response.headers[values: .wwwAuthenticate].flatMap(Challenge.all)
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
            // The server lists challenges by preference (RFC 7616 §3.7), but MD5 comes last here.
            digest = open.first { $0.algorithm != .md5 } ?? open.first
        }
        var isDigestOffered = !digests.isEmpty
        switch rejected {
        case .basic(let credential, _): rejectedBasic = credential
        // The last challenge was digest. If the server now offers basic and an unknown digest, an attacker in between may be
        // asking.
        case .digest: isDigestOffered = challenges.contains { $0.scheme == "digest" }
        case nil: break
        }
        defer {
            if realm == nil { refusal = .unanswerable(challenges, schemes, origin, rejected: rejected) }
        }
        // A credential sent in advance may have been for another realm, or hold an old password: basic is answered once more.
        guard digest == nil, rejected == nil || wasInAdvance, schemes.contains(.basic),
            !schemes.contains(.digest) || origin.scheme == "https" && !isDigestOffered
        else { return }
        basicRealm = challenges.first { $0.scheme == "basic" && $0.parameters["realm"] != nil }?.parameters["realm"]
    }

    private static func isOpen(
        _ challenge: DigestChallenge,
        after rejected: HTTPAuthAnswer?,
        wasInAdvance: Bool
    ) -> Bool {
        guard case .digest(let answer) = rejected else { return true }
        let isNew = challenge.nonce != answer.challenge.nonce
        return challenge.realm != answer.challenge.realm || isNew && (challenge.isStale || wasInAdvance)
    }
}
