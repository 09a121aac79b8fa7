/// The keys of an AWS account or session. The descriptions and the mirror don't show the secret key or the session token.
public struct AWSCredentials: Sendable, Hashable {
    /// The ID of the access key, which is sent with requests.
    public var accessKeyID: String
    /// The secret access key, which is never sent.
    public var secretAccessKey: String
    /// The session token of temporary credentials, which is sent with requests; `nil` for permanent ones.
    public var sessionToken: String?

    /// Creates credentials from an access key and, for temporary ones, a session token.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The access key's ID, and whether there is a session token.
    public var description: String {
        "AWSCredentials(\(accessKeyID), \(Redaction.standard.placeholder)\(sessionToken == nil ? "" : ", session token"))"
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror with the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}
