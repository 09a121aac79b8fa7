/// Recognizes a server's TLS alert in OpenSSL's error text (RFC 8446 §6.2).
package enum TLSAlert {
    private static let aboutIdentity = [
        "certificate required", "no certificate", "bad certificate", "unsupported certificate", "certificate unknown",
        "certificate expired", "certificate revoked", "unknown ca", "access denied",
    ]

    /// Whether the alert concerns the client certificate.
    static func isAboutIdentity(_ text: String) -> Bool {
        text.contains("alert") && aboutIdentity.contains { text.contains($0) }
    }

    /// Whether the connection ended within the handshake without an alert: by a reset, or by its end.
    package static func isLostHandshake(_ text: String) -> Bool {
        !text.contains("alert")
            && [
                "unexpected eof", "SSL_connect: SSL_ERROR_SYSCALL", "SSL_connect: SSL_ERROR_ZERO_RETURN",
                "SSL_connect: Connection reset", "SSL_connect: Broken pipe", "Recv failure", "Send failure",
                "non-properly terminated",
            ].contains { text.contains($0) }
    }

    /// Whether the server refuses the client, rather than merely closing an established connection.
    ///
    /// In TLS 1.3 this alert may arrive after the client has finished its handshake and sent its request.
    package static func isRefusal(_ text: String) -> Bool {
        isAboutIdentity(text)
            || text.contains("alert") && ["handshake failure", "decrypt error"].contains { text.contains($0) }
    }
}
