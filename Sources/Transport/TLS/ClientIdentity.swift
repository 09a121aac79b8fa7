public import Foundation
internal import InterceptorsSyntax

/// A certificate with its private key, with which a client authenticates itself (mutual TLS).
///
/// ```swift
/// let identity = try ClientIdentity(pkcs12: archiveURL, password: password)
/// ```
/// On Linux a certificate file and a key file work too; on Apple platforms, a `SecIdentity` from the keychain.
/// ```swift
/// let identity = try ClientIdentity(certificate: certificateURL, privateKey: keyURL)
/// ```
/// An archive is opened once, when the identity is created. The description never shows the key or a password.
public struct ClientIdentity: Sendable, Hashable {
    let storage: Storage

    /// Creates an identity from a PKCS#12 archive (`.p12`, `.pfx`), including any intermediate certificates in it.
    ///
    /// - Throws: ``TransportError`` if the data isn't such an archive, the password is wrong, or the key or its
    ///   certificate is missing.
    public init(pkcs12 archive: Data, password: String) throws {
        storage = try Storage(pkcs12: archive, password: password)
    }

    /// Creates an identity from a PKCS#12 file (`.p12`, `.pfx`), including any intermediate certificates in it.
    ///
    /// - Throws: ``TransportError`` if the file can't be read or isn't such an archive, the password is wrong, or the
    ///   key or its certificate is missing.
    public init(pkcs12 file: URL, password: String) throws {
        try self.init(pkcs12: Self.read(file), password: password)
    }

    /// Creates an identity from PEM files: the certificate, followed by any intermediates, and the private key.
    ///
    /// Apple platforms can't join a key with a certificate outside a keychain, so this initializer throws
    /// ``HTTPErrorCode/unsupported`` there. Create a PKCS#12 archive instead:
    /// ```sh
    /// openssl pkcs12 -export -in certificate.pem -inkey key.pem -out identity.p12
    /// ```
    /// - Parameters:
    ///   - certificate: the file with the certificates.
    ///   - privateKey: the file with the key. It may be the same file.
    ///   - password: the key's password, if the key is encrypted.
    /// - Throws: ``TransportError``.
    public init(certificate: URL, privateKey: URL, password: String? = nil) throws {
        let certificates = try TLSCertificate.all(in: certificate)
        storage = try Storage(certificates: certificates, privateKey: Self.read(privateKey), password: password)
    }

    /// Creates an identity from PEM texts in memory. See ``init(certificate:privateKey:password:)-(URL,_,_)``.
    public init(certificate: Data, privateKey: Data, password: String? = nil) throws {
        let certificates = try TLSCertificate.all(certificate, source: "The content")
        storage = try Storage(certificates: certificates, privateKey: privateKey, password: password)
    }

    /// The SHA-256 of the certificate, in hexadecimal digits.
    var fingerprint: String { PortableSHA256.digest(Array(storage.certificate)).hexadecimal }

    private static func read(_ file: URL) throws -> Data {
        guard let content = try? RegularFile.contents(of: file) else {
            throw TransportError(.unreadableFile, "There is no file at \(file.path), or it can't be read.")
        }
        return content
    }
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// The identity's subject, without the key.
    public var description: String { "ClientIdentity(\(storage.subject))" }

    /// A mirror that shows the subject and nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: ["subject": storage.subject]) }
}
