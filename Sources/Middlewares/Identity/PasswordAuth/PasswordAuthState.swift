/// The state machine of the sessions and of the accepted and rejected credentials, by server.
///
/// | a server's response | effect on the session |
/// | --- | --- |
/// | a challenge, never answered | begins |
/// | no challenge | is proven: a later rejection concerns the requested resource, not the credential |
/// | a challenge after an answer, session not proven | ends, and the credential is not used for the realm again |
/// | a challenge with a new nonce after an answer to an older one | restarts |
/// | a basic challenge after an answer in advance, and another credential for it | restarts |
struct PasswordAuthState: Sendable {
    enum Session: Sendable {
        case basic(BasicAnswer)
        case digest(DigestSession)

        func isUsed(by answer: PasswordAuthAnswer) -> Bool {
            switch (self, answer) {
            case (.basic(let own), .basic(let answer)): own.credential == answer.credential
            case (.digest(let own), .digest(let answer)):
                own.challenge.nonce == answer.challenge.nonce && own.credential == answer.credential
            default: false
            }
        }
    }

    private struct Realm: Hashable {
        let origin: Origin
        let name: String
    }

    private var sessions: [Origin: Session] = [:]
    private var proven: [Realm: PasswordCredential] = [:]
    private var rejected: [Realm: PasswordCredential] = [:]

    // The server chooses the names of realms, so this limit keeps it from filling the memory.
    private static let limit = 64

    /// The answer for a request that has not been challenged yet.
    mutating func answerInAdvance(to origin: Origin) -> PasswordAuthAnswer? {
        switch sessions[origin] {
        case .basic(let answer): return .basic(answer)
        case .digest(var session):
            guard let answer = session.next() else {
                sessions[origin] = nil
                return nil
            }
            sessions[origin] = .digest(session)
            return .digest(answer)
        case nil: return nil
        }
    }

    func mayAnswer(_ origin: Origin, realm: String, with credential: PasswordCredential) -> Bool {
        // A credential rejected in advance, before the realm was known, counts as rejected for every realm.
        ![realm, ""].contains { rejected[Realm(origin: origin, name: $0)] == credential }
    }

    /// Begins a session with its first answer, or continues the running session if both challenges are the same. Servers may
    /// challenge many requests with one nonce, and each count may be used only once.
    mutating func answer(of new: DigestSession, at origin: Origin) -> DigestAnswer? {
        var session = new
        if case .digest(let underWay) = sessions[origin], underWay.isContinued(by: new) { session = underWay }
        let answer = session.next()
        sessions[origin] = .digest(session)
        return answer
    }

    mutating func begin(_ session: Session, at origin: Origin) { sessions[origin] = session }

    mutating func accept(_ answer: PasswordAuthAnswer, at origin: Origin) {
        let realm = Realm(origin: origin, name: answer.realm)
        rejected[realm] = nil
        Self.remember(answer.credential, for: realm, in: &proven)
    }

    /// A credential that the realm never accepted is not tried again. A proven credential stays usable for other resources.
    mutating func reject(_ answer: PasswordAuthAnswer, at origin: Origin) {
        let realm = Realm(origin: origin, name: answer.realm)
        guard proven[realm] != answer.credential else { return }
        Self.remember(answer.credential, for: realm, in: &rejected)
        // Ends the session only if this answer belongs to it. Another session may have begun since, and forgetting that
        // session would restart its count.
        if sessions[origin]?.isUsed(by: answer) == true { sessions[origin] = nil }
    }

    mutating func advance(_ answer: DigestAnswer, to nonce: String, clientNonce: String, at origin: Origin) {
        guard case .digest(var session) = sessions[origin], session.challenge.nonce == answer.challenge.nonce else {
            return
        }
        session.advance(to: nonce, clientNonce: clientNonce)
        sessions[origin] = .digest(session)
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
