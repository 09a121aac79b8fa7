internal import InterceptorsSyntax
internal import Synchronization

/// The memory that all copies of an interceptor share, until the user of their session changes.
final class SharedPasswordAuthMemory: Sendable {
    private let session: PasswordSession
    private let memory: Mutex<(generation: UInt64, memory: PasswordAuthMemory)>

    init(_ session: PasswordSession) {
        self.session = session
        memory = Mutex((session.generation, PasswordAuthMemory()))
    }

    /// Read once per request: a request that outlives a sign-out keeps writing to the old, forgotten memory.
    var current: PasswordAuthMemory {
        memory.withLock { state in
            let generation = session.generation
            if state.generation != generation { state = (generation, PasswordAuthMemory()) }
            return state.memory
        }
    }
}

/// Records the servers' responses to one user's credentials.
final class PasswordAuthMemory: Sendable {
    private let state = Mutex(PasswordAuthState())

    /// The answer for a request that has not been challenged yet; `nil` to send the request without one.
    func answerInAdvance(to origin: Origin, atOnce: PasswordCredential?) -> PasswordAuthAnswer? {
        state.withLock { state in
            if let answer = state.answerInAdvance(to: origin) { return answer }
            guard let atOnce, state.mayAnswer(origin, realm: "", with: atOnce) else { return nil }
            return .basic(BasicAnswer(credential: atOnce, realm: ""))
        }
    }

    /// The answer to a challenge; `nil` if the realm has rejected this credential before.
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

    /// Records a response that accepted an answer. `Authentication-Info` may contain the next nonce.
    func learn(
        from response: HTTPResponse,
        to answer: PasswordAuthAnswer?,
        at origin: Origin,
        _ random: RandomSource
    ) {
        guard let answer, [.successful, .redirection].contains(response.status.kind) else { return }
        let information = response.mayBeFrom(origin) ? response.headerFields["Authentication-Info"] : nil
        let next = information.flatMap { Challenge.parameters(in: $0)["nextnonce"] }
        state.withLock { state in
            state.accept(answer, at: origin)
            if case .digest(let digest) = answer, let next {
                state.advance(digest, to: next, clientNonce: Self.clientNonce(random), at: origin)
            }
        }
    }

    func reject(_ answer: PasswordAuthAnswer, at origin: Origin) { state.withLock { $0.reject(answer, at: origin) } }

    private static func clientNonce(_ random: RandomSource) -> String {
        random.next().hexadecimal + random.next().hexadecimal
    }
}
