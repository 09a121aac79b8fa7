/// What OpenSSL's words for a failure say of a server's alert (RFC 8446 §6.2).
enum TLSAlert {
    private static let aboutIdentity = [
        "certificate required", "no certificate", "bad certificate", "unsupported certificate", "certificate unknown",
        "certificate expired", "certificate revoked", "unknown ca", "access denied",
    ]

    /// Whether the server asks for another client certificate.
    static func isAboutIdentity(_ text: String) -> Bool {
        text.contains("alert") && aboutIdentity.contains { text.contains($0) }
    }

    /// Whether the server refuses the client, and not merely ends a connection that had stood.
    ///
    /// With TLS 1.3 it says so when the client believes to be through, and may have sent its request.
    static func isRefusal(_ text: String) -> Bool {
        isAboutIdentity(text)
            || text.contains("alert") && ["handshake failure", "decrypt error"].contains { text.contains($0) }
    }
}
