#if canImport(Security)
internal import Foundation
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

    /// Security's form of an identity. Two identities with the same certificates are equal, because a certificate has exactly
    /// one key.
    struct Storage: Sendable, Hashable {
        /// The client's certificate in DER, then the intermediates up to its root.
        private let certificates: [Data]
        private let reference: SecurityReference
        let subject: String

        /// The client's certificate in DER.
        var certificate: Data { certificates.first ?? Data() }

        init(pkcs12 archive: Data, password: String) throws {
            let item = try Self.item(of: archive, password: password)
            guard let identity = Self.identity(of: item) else { throw Self.incomplete }
            let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
            try self.init(identity, chain: Array(chain.dropFirst()))
        }

        init(certificates: [TLSCertificate], privateKey: Data, password: String?) throws {
            throw TransportError(
                .unsupported,
                "On this platform a certificate and its key can't be joined outside of a keychain. Make a PKCS#12 archive of"
                    + " them: openssl pkcs12 -export -in certificate.pem -inkey key.pem -out identity.p12"
            )
        }

        /// Creates the storage from a keychain's identity, or from an imported archive's.
        init(_ identity: SecIdentity, chain: [SecCertificate]) throws {
            var certificate: SecCertificate?
            guard SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess, let certificate else {
                throw TransportError(.notAnIdentity, "The identity's certificate can't be read.")
            }
            certificates = ([certificate] + chain).map { SecCertificateCopyData($0) as Data }
            reference = SecurityReference(identity: identity, chain: chain)
            subject = CertificateLayout([UInt8](SecCertificateCopyData(certificate) as Data))?.subject ?? "no name"
        }

        /// The credential that answers a challenge for a client certificate.
        var credential: URLCredential {
            URLCredential(identity: reference.identity, certificates: reference.chain, persistence: .forSession)
        }

        static func == (one: Self, other: Self) -> Bool { one.certificates == other.certificates }

        func hash(into hasher: inout Hasher) { hasher.combine(certificates) }

        private static func item(of archive: Data, password: String) throws -> [String: Any] {
            // Imported into memory only; on a Mac the identity would otherwise stay in the user's keychain.
            let options: [String: Any] = [
                kSecImportExportPassphrase as String: password,
                kSecImportToMemoryOnly as String: true,
            ]
            var items: CFArray?
            let status = SecPKCS12Import(archive as CFData, options as CFDictionary, &items)
            if status == errSecAuthFailed || status == errSecPkcs12VerifyFailure {
                throw TransportError(.wrongPassword, "The password does not open the PKCS#12 archive.")
            }
            guard status == errSecSuccess else {
                let reason = SecCopyErrorMessageString(status, nil) as String? ?? "error \(status)"
                throw TransportError(.notAnIdentity, "The PKCS#12 archive can't be opened: \(reason)")
            }
            guard let item = (items as? [[String: Any]])?.first else { throw incomplete }
            return item
        }

        private static var incomplete: TransportError {
            TransportError(.notAnIdentity, "The PKCS#12 archive holds no private key with its certificate.")
        }

        private static func identity(of item: [String: Any]) -> SecIdentity? {
            guard let value = item[kSecImportItemIdentity as String] else { return nil }
            let object = value as CFTypeRef
            guard CFGetTypeID(object) == SecIdentityGetTypeID() else { return nil }
            return unsafeDowncast(object, to: SecIdentity.self)
        }
    }

    /// References to Security's objects of an identity.
    ///
    /// `@unchecked Sendable` is safe: identities and certificates never change, and Security's functions may use them from
    /// several threads at once ("Certificate, Key, and Trust Services", Threading). Older SDKs don't declare this to the
    /// compiler.
    private final class SecurityReference: @unchecked Sendable {
        let identity: SecIdentity
        let chain: [SecCertificate]

        init(identity: SecIdentity, chain: [SecCertificate]) {
            self.identity = identity
            self.chain = chain
        }
    }
}
#endif
