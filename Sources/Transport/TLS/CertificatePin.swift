public import Foundation

/// What must be found in a server's verified chain: a public key, or a certificate, by its SHA-256.
///
/// ```swift
/// let pin: CertificatePin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
/// let other = try CertificatePin.publicKey(inFile: certificateURL)
/// let configured = try CertificatePin(parsing: textFromTheServer)
/// ```
/// Pin public keys rather than certificates: they can stay the same when a certificate is renewed. A pin may be that of any
/// certificate of the chain: the server's own, an intermediate's or the root's. Always have a backup: the pin of a key that
/// is not in use yet.
///
/// The pin of a server's key, and those of all that it sends, are printed by
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
    // A literal that is no pin, as it was written. No digest is empty: such a pin matches no certificate.
    private let invalidText: String?

    init(_ subject: Subject, digest: [UInt8]) {
        self.subject = subject
        self.digest = digest
        invalidText = nil
    }

    /// A pin from text that is known at run time: `sha256/` and the base64 of the SHA-256 of a SubjectPublicKeyInfo (RFC 7469 §2.4), or
    /// `certificate-sha256/` and that of a certificate's DER. libcurl's `sha256//` is understood, too.
    ///
    /// - Throws: ``TLSConfigurationError`` with ``TLSConfigurationError/Code/invalidPin``.
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
                // The digest itself may begin with a slash.
                if prefix == curls, let digest = Data(base64Encoded: String(text.dropFirst(7))), digest.count == 32 {
                    self.init(subject, digest: [UInt8](digest))
                    return
                }
                return nil
            }
            self.init(subject, digest: [UInt8](digest))
            return
        }
        return nil
    }

    /// Whether this is a pin. Only a literal may be none: ``init(stringLiteral:)``.
    public var isValid: Bool { invalidText == nil }

    var literalError: TLSConfigurationError? { invalidText.map(Self.invalid) }

    private static func invalid(_ text: String) -> TLSConfigurationError {
        TLSConfigurationError(
            .invalidPin,
            "\(String(reflecting: text)) is no pin: write sha256/ and the base64 of the 32 bytes of a SHA-256."
        )
    }
}

extension CertificatePin {
    /// The pin of the public key of a certificate.
    public static func publicKey(of certificate: TLSCertificate) -> Self { certificate.publicKeyPin }

    /// The pin of the public key of the certificate in a file, PEM or DER.
    ///
    /// - Throws: ``TLSConfigurationError``.
    public static func publicKey(inFile file: URL) throws -> Self { try TLSCertificate(file: file).publicKeyPin }

    /// The pin of a certificate, and of no other, be it for the same key.
    public static func certificate(_ certificate: TLSCertificate) -> Self { certificate.certificatePin }

    /// The pin of the certificate in a file, PEM or DER, and of no other, be it for the same key.
    ///
    /// - Throws: ``TLSConfigurationError``.
    public static func certificate(inFile file: URL) throws -> Self { try TLSCertificate(file: file).certificatePin }
}

extension CertificatePin: ExpressibleByStringLiteral, CustomStringConvertible, CustomDebugStringConvertible {
    /// A pin written in code, in the form of ``init(parsing:)``.
    ///
    /// A literal in any other form makes a pin that is not ``isValid``: a transport with such a pin sends nothing, and each
    /// call fails with ``TransportError/Code/unsupported`` and the pin's text. Swift uses this initialiser for
    /// `CertificatePin("…")`, too (SE-0213).
    public init(stringLiteral text: String) {
        if let pin = Self(text: text) {
            self = pin
        } else {
            subject = .publicKey
            digest = []
            invalidText = text
        }
    }

    /// The pin as text, as it is written in code.
    public var description: String { invalidText ?? subject.prefix + Data(digest).base64EncodedString() }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
