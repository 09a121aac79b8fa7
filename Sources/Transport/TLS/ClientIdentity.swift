public import Foundation

/// A certificate with its private key, by which a client says who it is (mutual TLS).
///
/// ```swift
/// let identity = try ClientIdentity(pkcs12: archiveURL, password: password)
/// ```
/// On Linux two files make one, too; on Apple's platforms so does a `SecIdentity` of the keychain.
/// ```swift
/// let identity = try ClientIdentity(certificate: certificateURL, privateKey: keyURL)
/// ```
/// An archive is opened once, when the identity is made.
/// Its description never shows the key or a password.
public struct ClientIdentity: Sendable, Hashable {
    let storage: Storage

    /// An identity from a PKCS#12 archive (`.p12`, `.pfx`), with the certificates between it and its root if they are there.
    ///
    /// - Throws: ``TLSConfigurationError`` if it is no such archive, the password is wrong, or a key or its certificate is
    ///   missing.
    public init(pkcs12 archive: Data, password: String) throws {
        storage = try Storage(pkcs12: archive, password: password)
    }

    /// An identity from a PKCS#12 file (`.p12`, `.pfx`), with the certificates between it and its root if they are there.
    ///
    /// - Throws: ``TLSConfigurationError`` if it can't be read or is no such archive, the password is wrong, or a key or its
    ///   certificate is missing.
    public init(pkcs12 file: URL, password: String) throws {
        try self.init(pkcs12: Self.read(file), password: password)
    }

    /// An identity from PEM files: the certificate, followed by those between it and its root, and the private key.
    ///
    /// On Apple's platforms a key can't be joined with a certificate outside of a keychain, so that this throws
    /// ``TLSConfigurationError/Code/unsupported``; make a PKCS#12 archive of them:
    /// ```sh
    /// openssl pkcs12 -export -in certificate.pem -inkey key.pem -out identity.p12
    /// ```
    /// - Parameters:
    ///   - certificate: the file of the certificates.
    ///   - privateKey: the file of the key; it may be the same one.
    ///   - password: the key's, where it is encrypted.
    /// - Throws: ``TLSConfigurationError``.
    public init(certificate: URL, privateKey: URL, password: String? = nil) throws {
        let certificates = try TLSCertificate.all(in: certificate)
        storage = try Storage(certificates: certificates, privateKey: Self.read(privateKey), password: password)
    }

    /// An identity from PEM texts in memory; see ``init(certificate:privateKey:password:)-(URL,_,_)``.
    public init(certificate: Data, privateKey: Data, password: String? = nil) throws {
        let certificates = try TLSCertificate.all(certificate, source: "The content")
        storage = try Storage(certificates: certificates, privateKey: privateKey, password: password)
    }

    private static func read(_ file: URL) throws -> Data {
        guard let content = try? RegularFile.contents(of: file) else {
            throw TLSConfigurationError(.unreadableFile, "There is no file at \(file.path), or it can't be read.")
        }
        return content
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whose it is, without the key.
    public var description: String { "ClientIdentity(\(storage.subject))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: ["subject": storage.subject]) }
}
