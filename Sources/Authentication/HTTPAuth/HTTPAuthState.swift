internal import InterceptorsSyntax
internal import Synchronization

/// The state machine of the sessions and of the accepted and rejected credentials, by server.
///
/// | a server's response | effect on the session |
/// | --- | --- |
/// | a challenge, never answered | begins |
/// | no challenge | is proven: a later rejection concerns the requested resource, not the credential |
/// | a challenge after an answer, session not proven | ends, and the credential is not used for the realm again |
/// | a challenge with a new nonce after an answer to an older one | restarts |
/// | a basic challenge after an answer in advance, and another credential for it | restarts |
struct HTTPAuthState: Sendable {
    private struct Realm: Hashable {
        let origin: Origin
        let name: String
    }

    /// The last answer for each origin.
    private var sessions: [Origin: HTTPAuthAnswer] = [:]
    private var proven: [Realm: PasswordCredential] = [:]
    private var rejected: [Realm: PasswordCredential] = [:]

    // The server chooses the names of realms, so this limit keeps it from filling the memory.
    private static let limit = 64

    /// The answer for a request that has not been challenged yet; `nil` to send the request without one.
    mutating func answerInAdvance(to origin: Origin, atOnce: PasswordCredential? = nil) -> HTTPAuthAnswer? {
        if case .digest(var session) = sessions[origin] { sessions[origin] = session.next().map { .digest($0) } }
        if let answer = sessions[origin] { return answer }
        guard let atOnce, mayAnswer(origin, realm: "", with: atOnce) else { return nil }
        return .basic(atOnce, realm: "")
    }

    private func mayAnswer(_ origin: Origin, realm: String, with credential: PasswordCredential) -> Bool {
        // A credential rejected in advance, before the realm was known, counts as rejected for every realm.
        ![realm, ""].contains { rejected[Realm(origin: origin, name: $0)] == credential }
    }

    /// The answer to a challenge, which begins a session; `nil` if the realm has rejected this credential before.
    mutating func answer(
        to offer: ChallengeOffer,
        with credential: PasswordCredential,
        at origin: Origin,
        _ random: RandomSource
    ) -> HTTPAuthAnswer? {
        guard let realm = offer.realm, mayAnswer(origin, realm: realm, with: credential) else { return nil }
        guard let challenge = offer.digest else {
            let answer = HTTPAuthAnswer.basic(credential, realm: realm)
            sessions[origin] = answer
            return answer
        }
        let nonce = Self.clientNonce(random)
        let session = DigestAnswer(challenge: challenge, credential: credential, clientNonce: nonce)
        return answer(of: session, at: origin).map { .digest($0) }
    }

    /// Begins a session with its first answer, or continues the running session if both challenges are the same. Servers may
    /// challenge many requests with one nonce, and each count may be used only once.
    mutating func answer(of new: DigestAnswer, at origin: Origin) -> DigestAnswer? {
        var session = new
        if case .digest(let underWay) = sessions[origin], underWay.isContinued(by: new) { session = underWay }
        let answer = session.next()
        sessions[origin] = .digest(session)
        return answer
    }

    /// Records a response that accepted an answer. `Authentication-Info` may contain the next nonce.
    mutating func learn(
        from response: HTTPResponse,
        to answer: HTTPAuthAnswer,
        at origin: Origin,
        _ random: RandomSource
    ) {
        guard [.successful, .redirection].contains(response.status.kind) else { return }
        let realm = Realm(origin: origin, name: answer.realm)
        rejected[realm] = nil
        Self.remember(answer.credential, for: realm, in: &proven)
        guard response.mayBeFrom(origin), let information = response.headers["Authentication-Info"],
            let nonce = Challenge.parameters(in: information)["nextnonce"],
            case .digest(let digest) = answer, case .digest(var session) = sessions[origin],
            session.challenge.nonce == digest.challenge.nonce
        else { return }
        session.advance(to: nonce, clientNonce: Self.clientNonce(random))
        sessions[origin] = .digest(session)
    }

    /// A credential that the realm never accepted is not tried again. A proven credential stays usable for other resources.
    mutating func reject(_ answer: HTTPAuthAnswer, at origin: Origin) {
        let realm = Realm(origin: origin, name: answer.realm)
        guard proven[realm] != answer.credential else { return }
        Self.remember(answer.credential, for: realm, in: &rejected)
        // Ends the session only if this answer belongs to it. Another session may have begun since, and forgetting that
        // session would restart its count.
        if sessions[origin]?.isOfSameSession(as: answer) == true { sessions[origin] = nil }
    }

    private static func clientNonce(_ random: RandomSource) -> String {
        random.next().hexadecimal + random.next().hexadecimal
    }

    private static func remember(
        _ credential: PasswordCredential,
        for realm: Realm,
        in known: inout [Realm: PasswordCredential]
    ) {
        if known.count >= limit, known[realm] == nil { known.removeAll() }
        known[realm] = credential
    }
}

/// The state that all copies of an interceptor share, until the user of their session changes.
final class HTTPAuthMemory: Sendable {
    private let session: PasswordSession
    private let held: Mutex<(generation: UInt64, state: HTTPAuthState)>

    init(_ session: PasswordSession) {
        self.session = session
        held = Mutex((session.generation, HTTPAuthState()))
    }

    /// The user's session. Read once per request.
    var generation: UInt64 { session.generation }

    /// Uses the state of a session. A request that outlives a sign-out gets a state that is then forgotten.
    func inSession<Result: Sendable>(_ generation: UInt64, _ body: (inout HTTPAuthState) -> Result) -> Result {
        held.withLock { held in
            let current = session.generation
            if held.generation != current { held = (current, HTTPAuthState()) }
            guard generation != current else { return body(&held.state) }
            var forgotten = HTTPAuthState()
            return body(&forgotten)
        }
    }
}

extension HTTPResponse {
    /// Whether an origin sent the response. An interceptor inside may have followed a redirect to another origin.
    func mayBeFrom(_ origin: Origin) -> Bool { url.flatMap(Origin.init).map { $0 == origin } ?? true }
}
