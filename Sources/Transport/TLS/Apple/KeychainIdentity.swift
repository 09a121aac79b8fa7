#if canImport(Security)
public import Security

extension ClientIdentity {
    /// Creates an identity from a keychain item, such as one installed by device management or with a key in the Secure
    /// Enclave.
    ///
    /// ```swift
    /// let query: [String: Any] = [
    ///     kSecClass as String: kSecClassIdentity, kSecAttrLabel as String: "Device", kSecReturnRef as String: true,
    /// ]
    /// var item: CFTypeRef?
    /// guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess else { throw NoIdentity() }
    /// tls.identity = try ClientIdentity(item as! SecIdentity)
    /// ```
    /// The key stays in the keychain, which signs each handshake. If the keychain refuses, for example because the device is
    /// locked, the handshake fails with ``HTTPErrorCode/tlsFailed``.
    ///
    /// - Parameters:
    ///   - identity: the certificate with its key.
    ///   - intermediates: the certificates between the identity's certificate and its root, sent along in the handshake. By
    ///     default none.
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/notAnIdentity`` if the certificate can't be read.
    public init(_ identity: SecIdentity, intermediates: [SecCertificate] = []) throws {
        storage = try Storage(identity, chain: intermediates)
    }
}
#endif
