/// Decides who answers a URLSession challenge, by its subject and by whether a proxy asks.
enum ChallengeRule: Sendable {
    /// The subject of a challenge.
    enum Subject: Sendable { case password, serverTrust, clientCertificate, other }

    /// Reject the challenge, so that the caller gets the response that carries it.
    case reject
    /// Leave the challenge to the system, as if there were no delegate.
    case leaveToSystem
    /// Let the TLS settings decide whether to trust the server.
    case judgeServer
    /// Present the client identity of the TLS settings, if any.
    case presentIdentity

    init(_ subject: Subject, isProxy: Bool) {
        self =
            switch (subject, isProxy) {
            // A TLS proxy is verified as a host like any other.
            case (.serverTrust, _): .judgeServer
            // The user's system settings hold a proxy's credentials, and the client identity is meant for servers.
            case (_, true): .leaveToSystem
            case (.password, false): .reject
            case (.clientCertificate, false): .presentIdentity
            case (.other, false): .leaveToSystem
            }
    }
}
