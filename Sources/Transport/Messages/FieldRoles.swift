extension HTTPField.Name {
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
        switch name {
        case .authorization, .proxyAuthorization, .cookie, .host: true
        default: isSensitive(name.rawName)
        }
    }
}
