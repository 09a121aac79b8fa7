/// Who answers a challenge of URLSession's, by what is asked for and who asks.
enum ChallengeRule: Sendable {
    /// What is asked for.
    enum Subject: Sendable { case password, serverTrust, clientCertificate, other }

    /// Nobody: the response with the challenge is the answer.
    case reject
    /// The system, as if there were no delegate.
    case leaveToSystem
    /// The TLS settings: is the server whom they trust?
    case judgeServer
    /// The TLS settings: the client's identity, where they have one.
    case presentIdentity

    init(_ subject: Subject, isProxy: Bool) {
        self =
            switch (subject, isProxy) {
            // A proxy over TLS is verified as the host that it is.
            case (.serverTrust, _): .judgeServer
            // The user's settings have a proxy's credentials, and the identity is meant for servers.
            case (_, true): .leaveToSystem
            case (.password, false): .reject
            case (.clientCertificate, false): .presentIdentity
            case (.other, false): .leaveToSystem
            }
    }
}
