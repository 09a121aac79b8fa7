#if canImport(Security)
public import Security

extension ClientIdentity {
    /// An identity of a keychain: one that device management has installed, or whose key is in the Secure Enclave.
    ///
    /// ```swift
    /// let query: [String: Any] = [
    ///     kSecClass as String: kSecClassIdentity, kSecAttrLabel as String: "Device", kSecReturnRef as String: true,
    /// ]
    /// var item: CFTypeRef?
    /// guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess else { throw NoIdentity() }
    /// tls.identity = try ClientIdentity(item as! SecIdentity)
    /// ```
    /// The key stays in the keychain, which is asked for a signature in each handshake. Where the keychain refuses, such as on
    /// a locked device, the handshake fails with ``TransportError/Code/tlsFailed``.
    ///
    /// - Parameters:
    ///   - identity: the certificate with its key.
    ///   - intermediates: the certificates between the identity's own and its root, to be sent along; none by default.
    /// - Throws: ``TLSConfigurationError`` with ``TLSConfigurationError/Code/notAnIdentity`` if its certificate can't be read.
    public init(_ identity: SecIdentity, intermediates: [SecCertificate] = []) throws {
        storage = try Storage(identity, chain: intermediates)
    }
}
#endif
