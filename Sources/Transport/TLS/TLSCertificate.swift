public import Foundation

/// An X.509 certificate: an anchor of trust, or what a pin is made of.
///
/// ```swift
/// let root = try TLSCertificate(file: rootURL)
/// let tls = TLSConfiguration(trust: .only([root]))
/// ```
public struct TLSCertificate: Sendable, Hashable {
    /// The certificate in DER.
    public let der: Data
    /// The pin of its public key: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4).
    public let publicKeyPin: CertificatePin
    /// The pin of the certificate itself: the SHA-256 of its DER.
    public let certificatePin: CertificatePin
    /// The common name of its subject as `CN=…`, or its organisation as `O=…`.
    public let subject: String

    /// A certificate in DER or PEM.
    ///
    /// - Throws: ``TLSConfigurationError`` if it is none, or holds several.
    public init(_ content: Data) throws {
        self = try Self.one(Self.all(content, source: "The content"), source: "The content")
    }

    /// The certificate in a file, DER or PEM.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - host: whose certificate it is, for the command line that the error for a missing file offers.
    /// - Throws: ``TLSConfigurationError`` if there is no such file, or it doesn't hold exactly one certificate.
    public init(file: URL, of host: String? = nil) throws {
        self = try Self.one(Self.all(in: file, of: host), source: file.path)
    }

    /// All certificates in a file: several in PEM, or one in DER.
    ///
    /// - Throws: ``TLSConfigurationError`` if there is no such file, or it holds no certificate or a broken one.
    public static func all(in file: URL, of host: String? = nil) throws -> [TLSCertificate] {
        guard let content = try? RegularFile.contents(of: file) else { throw missing(file, host ?? "HOST") }
        return try all(content, source: file.path)
    }

    /// A certificate that a peer sent, or one block of a file.
    init(der: Data, source: @autoclosure () -> String) throws {
        let bytes = [UInt8](der)
        guard let layout = CertificateLayout(bytes), try PlatformCertificate.isValid(der) else {
            throw TLSConfigurationError(.notACertificate, "\(source()) is no X.509 certificate, neither PEM nor DER.")
        }
        self.der = der
        subject = layout.subject
        publicKeyPin = CertificatePin(.publicKey, digest: try SHA256Digest.of(Array(layout.publicKeyInfo)))
        certificatePin = CertificatePin(.certificate, digest: try SHA256Digest.of(bytes))
    }

    static func all(_ content: Data, source: String) throws -> [TLSCertificate] {
        guard PEM.isText(content) else { return [try TLSCertificate(der: content, source: source)] }
        let certificates = PEM.blocks(content)?.filter { $0.label == "CERTIFICATE" || $0.label == "X509 CERTIFICATE" }
        guard let certificates, !certificates.isEmpty else {
            throw TLSConfigurationError(.notACertificate, "\(source) holds no complete CERTIFICATE block.")
        }
        return try certificates.map { try TLSCertificate(der: $0.der, source: "A block of \(source)") }
    }

    private static func one(_ certificates: [TLSCertificate], source: String) throws -> TLSCertificate {
        guard certificates.count == 1, let certificate = certificates.first else {
            let count = certificates.count
            throw TLSConfigurationError(
                .notACertificate,
                "\(source) holds \(count) certificates where one is expected."
            )
        }
        return certificate
    }

    private static func missing(_ file: URL, _ host: String) -> TLSConfigurationError {
        let form = ["der", "cer"].contains(file.pathExtension.lowercased()) ? "DER" : "PEM"
        return TLSConfigurationError(
            .unreadableFile,
            """
            There is no certificate file at \(file.path), or it can't be read. To fetch that of a server:
            openssl s_client -connect \(host):443 -servername \(host) </dev/null \
            | openssl x509 -outform \(form) -out '\(file.path)'
            """
        )
    }
}

extension TLSCertificate: CustomStringConvertible {
    /// Its subject and its public key's pin.
    public var description: String { "\(publicKeyPin) (\(subject))" }
}
