/// A name and a password for the basic scheme.
struct BasicAnswer: Sendable {
    let credential: PasswordCredential
    /// The realm of the challenge; empty if the credential is sent in advance.
    let realm: String
}

/// The credentials that one request carries.
enum PasswordAuthAnswer: Sendable {
    case basic(BasicAnswer)
    case digest(DigestAnswer)

    var credential: PasswordCredential {
        switch self {
        case .basic(let answer): answer.credential
        case .digest(let answer): answer.credential
        }
    }

    var realm: String {
        switch self {
        case .basic(let answer): answer.realm
        case .digest(let answer): answer.challenge.realm
        }
    }

    /// The field for this request; `nil` if the challenge can't be answered for this request.
    func field(for request: HTTPRequest) async throws -> PasswordAuthField? {
        try await value(for: request).map { PasswordAuthField(answer: self, value: $0) }
    }

    private func value(for request: HTTPRequest) async throws -> String? {
        switch self {
        case .basic(let answer):
            guard let value = answer.credential.basicAuthorization else {
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

/// An answer, and its value for the `Authorization` field.
struct PasswordAuthField: Sendable {
    let answer: PasswordAuthAnswer
    let value: String
}
