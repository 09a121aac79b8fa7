/// The keys of an AWS account or session. Its descriptions and its mirror show neither secret.
public struct AWSCredentials: Sendable, Hashable {
    /// The access key's ID, which goes over the wire.
    public var accessKeyID: String
    /// The secret access key, which never does.
    public var secretAccessKey: String
    /// The token of temporary credentials, which goes over the wire.
    public var sessionToken: String?

    /// Credentials.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The ID, and whether there is a session token.
    public var description: String {
        "AWSCredentials(\(accessKeyID), \(Redaction.standard.placeholder)\(sessionToken == nil ? "" : ", session token"))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "accessKeyID": accessKeyID, "secretAccessKey": Redaction.standard.placeholder,
            "sessionToken": sessionToken == nil ? "none" : Redaction.standard.placeholder,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
