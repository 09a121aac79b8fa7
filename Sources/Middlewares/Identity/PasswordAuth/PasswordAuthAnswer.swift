/// A name and a password, sent as they are.
struct BasicAnswer: Sendable {
    let credential: PasswordCredential
    /// Whose challenge it answers; empty where it is sent unasked.
    let realm: String
}

/// What one request is sent with.
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

    /// The field for this request; `nil` if the challenge can't be answered for it.
    func field(for request: HTTPRequest, to challenger: Challenger) async throws -> PasswordAuthField? {
        try await value(for: request, to: challenger).map { PasswordAuthField(answer: self, value: $0) }
    }

    private func value(for request: HTTPRequest, to challenger: Challenger) async throws -> String? {
        switch self {
        case .basic(let answer):
            guard let value = answer.credential.basicAuthorization else {
                throw AuthenticationError(
                    .invalidCredential,
                    "The name holds a colon, or name or password a control character: the basic scheme can't say that"
                        + " (RFC 7617 §2).",
                    request: request
                )
            }
            return value
        case .digest(let answer): return try await answer.authorization(for: request, to: challenger)
        }
    }
}

/// An answer, and the value of `Authorization` or `Proxy-Authorization` that it becomes.
struct PasswordAuthField: Sendable {
    let answer: PasswordAuthAnswer
    let value: String
}
