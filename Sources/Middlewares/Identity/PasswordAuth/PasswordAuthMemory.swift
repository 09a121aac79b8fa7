internal import HTTPSyntax
internal import Synchronization

/// What the copies of one interceptor know together, until the user changes.
final class SharedPasswordAuthMemory: Sendable {
    private let memory = Mutex(PasswordAuthMemory())

    /// A request takes it once: what it learns after a sign-out is forgotten with the rest.
    var current: PasswordAuthMemory { memory.withLock(\.self) }

    func forget() { memory.withLock { $0 = PasswordAuthMemory() } }
}

/// What is known of the servers that one user's credentials were used with.
final class PasswordAuthMemory: Sendable {
    private let state = Mutex(PasswordAuthState())

    /// What a request is sent with that was not challenged yet.
    func answerInAdvance(to origin: Origin, atOnce: PasswordCredential?) -> PasswordAuthAnswer? {
        state.withLock { state in
            if let answer = state.answerInAdvance(to: origin) { return answer }
            guard let atOnce, state.mayAnswer(origin, realm: "", with: atOnce) else { return nil }
            return .basic(BasicAnswer(credential: atOnce, realm: ""))
        }
    }

    /// The answer to a challenge, `nil` if the realm has rejected this credential before.
    func answer(
        to offer: ChallengeOffer,
        with credential: PasswordCredential,
        at origin: Origin,
        _ random: RandomSource
    ) -> PasswordAuthAnswer? {
        guard let realm = offer.realm, state.withLock({ $0.mayAnswer(origin, realm: realm, with: credential) }) else {
            return nil
        }
        guard let challenge = offer.digest else {
            let answer = BasicAnswer(credential: credential, realm: realm)
            state.withLock { $0.begin(.basic(answer), at: origin) }
            return .basic(answer)
        }
        let session = DigestSession(challenge, credential, clientNonce: Self.clientNonce(random))
        return state.withLock { $0.answer(of: session, at: origin) }.map { .digest($0) }
    }

    /// Notes what an answer led to that was not rejected.
    ///
    /// - Parameter information: the field that may contain the next nonce.
    func learn(
        from response: HTTPResponse,
        _ information: HTTPField.Name,
        to answer: PasswordAuthAnswer?,
        at origin: Origin,
        _ random: RandomSource
    ) {
        guard let answer, response.status.kind == .successful || response.status.kind == .redirection else { return }
        let next = response.headerFields[information].flatMap { Challenge.parameters(in: $0)["nextnonce"] }
        state.withLock { state in
            state.accept(answer, at: origin)
            if case .digest(let digest) = answer, let next {
                state.advance(digest, to: next, clientNonce: Self.clientNonce(random), at: origin)
            }
        }
    }

    func reject(_ answer: PasswordAuthAnswer, at origin: Origin) { state.withLock { $0.reject(answer, at: origin) } }

    private static func clientNonce(_ random: RandomSource) -> String {
        [random.next(), random.next()].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
            .hexadecimal
    }
}
