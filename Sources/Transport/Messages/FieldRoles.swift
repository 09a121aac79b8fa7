extension HTTPField.Name {
    /// Whether a request's field is there for credentials (RFC 9110 §11, RFC 6265).
    package var carriesCredentials: Bool {
        self == .authorization || self == .proxyAuthorization || self == .cookie
    }

    /// Whether a field describes content (RFC 9110 §8 and §15.4, RFC 9530), or is useless without content.
    package var isAboutContent: Bool {
        switch self {
        case .transferEncoding, .trailer, .expect, .lastModified, "Digest", "Repr-Digest": true
        default: rawName.lowercased().hasPrefix("content-")
        }
    }
}

extension Redaction {
    /// Whether a field may only be sent to the origin that its request was made for.
    package func isBoundToOrigin(_ name: HTTPField.Name) -> Bool {
        name == .host || name.carriesCredentials || isSensitive(name.rawName)
    }
}
