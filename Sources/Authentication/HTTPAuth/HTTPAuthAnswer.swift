/// The credentials that one request carries.
enum HTTPAuthAnswer: Sendable {
    /// For the basic scheme. The realm is the challenge's; empty if the credential is sent in advance.
    case basic(PasswordCredential, realm: String)
    case digest(DigestAnswer)

    var credential: PasswordCredential {
        switch self {
        case .basic(let credential, _): credential
        case .digest(let answer): answer.credential
        }
    }

    var realm: String {
        switch self {
        case .basic(_, let realm): realm
        case .digest(let answer): answer.challenge.realm
        }
    }

    /// Whether another answer has the same credential and, for a digest, the same nonce.
    func isOfSameSession(as other: Self) -> Bool {
        switch (self, other) {
        case (.basic, .basic): credential == other.credential
        case (.digest(let mine), .digest(let others)):
            mine.challenge.nonce == others.challenge.nonce && credential == other.credential
        default: false
        }
    }

    /// The value of the `Authorization` field for this request; `nil` if the challenge can't be answered for this request.
    func value(for request: HTTPRequest) async throws -> String? {
        switch self {
        case .basic(let credential, _):
            guard let value = credential.basicAuthorization else {
                throw AuthenticationError(
                    .invalidCredential,
                    "The basic scheme can't carry this credential: the name contains a colon, or the name or the password a"
                        + " control character (RFC 7617 §2). Use another name, or digestAuth.",
                    request: request
                )
            }
            return value
        case .digest(let answer): return try await answer.authorization(for: request)
        }
    }
}
