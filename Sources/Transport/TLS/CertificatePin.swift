internal import Foundation

/// A public key or certificate, given by its SHA-256, that a server's verified chain must contain.
///
/// ```swift
/// let pin: CertificatePin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
/// let other = try TLSCertificate(file: certificateURL).publicKeyPin
/// let configured = try CertificatePin(parsing: textFromTheServer)
/// let bundled = try CertificatePin.publicKeys(inFolder: certificatesURL)
/// ```
/// Pin public keys rather than certificates, because a renewed certificate can keep its key. A pin may match any certificate of
/// the chain: the server's own, an intermediate or the root. Always include a backup pin, for a key that isn't in use yet.
///
/// This command prints the pin of a server's key:
/// ```sh
/// openssl s_client -connect HOST:443 -servername HOST </dev/null | openssl x509 -pubkey -noout \
///   | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
/// ```
public struct CertificatePin: Sendable, Hashable {
    enum Subject: Sendable, Hashable {
        case publicKey
        case certificate

        var prefix: String { self == .publicKey ? "sha256/" : "certificate-sha256/" }
    }

    let subject: Subject
    let digest: [UInt8]
    /// The digest of an invalid pin is empty and so matches no certificate.
    private let fault: Fault?

    private struct Fault: Hashable {
        let text: String
        let code: HTTPErrorCode
        let message: String
    }

    init(_ subject: Subject, digest: [UInt8]) {
        self.subject = subject
        self.digest = digest
        fault = nil
    }

    /// Creates an invalid pin, with which a transport sends nothing.
    init(invalid text: String, because failure: TransportError) {
        subject = .publicKey
        digest = []
        fault = Fault(text: text, code: failure.code, message: failure.message)
    }

    /// Creates a pin from text known at run time.
    ///
    /// A public key pin is `sha256/` and the base64 SHA-256 of a SubjectPublicKeyInfo (RFC 7469 §2.4). A certificate pin is
    /// `certificate-sha256/` and the base64 SHA-256 of a certificate's DER. libcurl's `sha256//` is accepted too, and the base64
    /// alone is the pin of a public key.
    ///
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/invalidPin``.
    public init(parsing text: String) throws {
        guard let pin = Self(text: text) else { throw Self.invalid(text) }
        self = pin
    }

    private init?(text: String) {
        let curls = "sha256//"
        for subject in [Subject.certificate, .publicKey] {
            let prefix = text.hasPrefix(curls) && subject == .publicKey ? curls : subject.prefix
            guard text.hasPrefix(prefix) else { continue }
            guard let digest = Data(base64Encoded: String(text.dropFirst(prefix.count))), digest.count == 32 else {
                // The second slash may belong to the digest.
                if prefix == curls, let digest = Data(base64Encoded: String(text.dropFirst(7))), digest.count == 32 {
                    self.init(subject, digest: [UInt8](digest))
                    return
                }
                break
            }
            self.init(subject, digest: [UInt8](digest))
            return
        }
        // The base64 alone, which may begin with "sha256/" by chance.
        guard let digest = Data(base64Encoded: text), digest.count == 32 else { return nil }
        self.init(.publicKey, digest: [UInt8](digest))
    }

    /// Whether the pin is valid. Only a literal (``init(stringLiteral:)``) and the pin of a folder without certificates
    /// (``TLSConfiguration/pinned(certificatesIn:trust:)-(URL,_)``) can be invalid.
    public var isValid: Bool { fault == nil }

    var literalError: TransportError? { fault.map { TransportError($0.code, $0.message) } }

    private static func invalid(_ text: String) -> TransportError {
        TransportError(
            .invalidPin,
            "\(String(reflecting: text)) is no pin: write sha256/ and the base64 of the 32 bytes of a SHA-256."
        )
    }
}

extension CertificatePin: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a pin from a literal in the form of ``init(parsing:)``.
    ///
    /// A literal in another form creates a pin that isn't ``isValid``. A transport with such a pin sends nothing, and each call
    /// fails with ``HTTPErrorCode/unsupported`` and the pin's text. Swift also uses this initializer for
    /// `CertificatePin("…")` (SE-0213).
    public init(stringLiteral text: String) {
        if let pin = Self(text: text) {
            self = pin
        } else {
            self.init(invalid: text, because: Self.invalid(text))
        }
    }

    /// The pin in the form of its literal.
    public var description: String { fault?.text ?? subject.prefix + Data(digest).base64EncodedString() }
}
