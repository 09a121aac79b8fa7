#if canImport(Security)
internal import Foundation
internal import Security

extension ClientIdentity {
    /// What Security needs of an identity. It is imported again for each challenge: a SecIdentity is no Sendable value.
    struct Storage: Sendable, Hashable {
        private let archive: Data
        private let password: String
        let subject: String

        init(pkcs12 archive: Data, password: String) throws {
            self.archive = archive
            self.password = password
            let item = try Self.item(of: archive, password: password)
            subject = Self.subject(of: item) ?? "no name"
        }

        init(certificates: [TLSCertificate], privateKey: Data, password: String?) throws {
            throw TLSConfigurationError(
                .unsupported,
                "On this platform a certificate and its key can't be joined outside of a keychain. Make a PKCS#12 archive of"
                    + " them: openssl pkcs12 -export -in certificate.pem -inkey key.pem -out identity.p12"
            )
        }

        /// What answers a challenge for a client certificate.
        var credential: URLCredential? {
            guard let item = try? Self.item(of: archive, password: password), let identity = Self.identity(of: item)
            else {
                return nil
            }
            let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
            return URLCredential(
                identity: identity,
                certificates: Array(chain.dropFirst()),
                persistence: .forSession
            )
        }

        private static func item(of archive: Data, password: String) throws -> [String: Any] {
            // In memory alone: on a Mac the identity would otherwise stay in the user's keychain.
            let options: [String: Any] = [
                kSecImportExportPassphrase as String: password,
                kSecImportToMemoryOnly as String: true,
            ]
            var items: CFArray?
            let status = SecPKCS12Import(archive as CFData, options as CFDictionary, &items)
            if status == errSecAuthFailed || status == errSecPkcs12VerifyFailure {
                throw TLSConfigurationError(.wrongPassword, "The password does not open the PKCS#12 archive.")
            }
            guard status == errSecSuccess else {
                let reason = SecCopyErrorMessageString(status, nil) as String? ?? "error \(status)"
                throw TLSConfigurationError(.notAnIdentity, "The PKCS#12 archive can't be opened: \(reason)")
            }
            guard let item = (items as? [[String: Any]])?.first, identity(of: item) != nil else {
                throw TLSConfigurationError(
                    .notAnIdentity,
                    "The PKCS#12 archive holds no private key with its certificate."
                )
            }
            return item
        }

        private static func identity(of item: [String: Any]) -> SecIdentity? {
            guard let value = item[kSecImportItemIdentity as String] else { return nil }
            let object = value as CFTypeRef
            guard CFGetTypeID(object) == SecIdentityGetTypeID() else { return nil }
            return unsafeDowncast(object, to: SecIdentity.self)
        }

        private static func subject(of item: [String: Any]) -> String? {
            var certificate: SecCertificate?
            guard let identity = identity(of: item),
                SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess,
                let certificate
            else { return nil }
            return CertificateLayout([UInt8](SecCertificateCopyData(certificate) as Data))?.subject
        }
    }
}
#endif
