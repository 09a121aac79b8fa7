public import Foundation
internal import InterceptorsSyntax

#if canImport(Security)
internal import Security
#endif

/// An X.509 certificate, used as a trust anchor or as the source of a pin.
///
/// ```swift
/// let root = try TLSCertificate(file: rootURL)
/// let tls = TLSConfiguration(trust: .only([root]))
/// ```
public struct TLSCertificate: Sendable, Hashable {
    /// The certificate in DER.
    public let der: Data
    /// The pin of the certificate's public key: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4).
    public let publicKeyPin: CertificatePin
    /// The pin of the certificate itself: the SHA-256 of its DER.
    public let certificatePin: CertificatePin
    /// The subject's common name as `CN=…`, or else its organization as `O=…`.
    public let subject: String

    /// Creates a certificate from DER or PEM.
    ///
    /// - Throws: ``TransportError`` if the content isn't exactly one certificate.
    public init(_ content: Data) throws {
        self = try Self.one(Self.all(content, source: "The content"), source: "The content")
    }

    /// Reads the certificate in a DER or PEM file.
    ///
    /// - Parameters:
    ///   - file: the file's URL.
    ///   - host: the certificate's host, used only in the command that the error for a missing file suggests.
    /// - Throws: ``TransportError`` if there is no such file, or if it doesn't contain exactly one certificate.
    public init(file: URL, of host: String? = nil) throws {
        self = try Self.one(Self.all(in: file, of: host), source: file.path)
    }

    /// Reads all certificates in a file: any number in PEM, or one in DER.
    ///
    /// - Throws: ``TransportError`` if there is no such file, or if it contains no certificate or a malformed one.
    public static func all(in file: URL, of host: String? = nil) throws -> [TLSCertificate] {
        guard let content = try? RegularFile.contents(of: file) else { throw missing(file, host ?? "HOST") }
        return try all(content, source: file.path)
    }

    /// Creates a certificate from a peer's DER or a block of a file.
    init(der: Data, source: String) throws {
        let bytes = [UInt8](der)
        guard let layout = CertificateLayout(bytes), try Self.isValid(der) else {
            throw TransportError(.notACertificate, "\(source) is no X.509 certificate, neither PEM nor DER.")
        }
        self.der = der
        subject = layout.subject
        publicKeyPin = CertificatePin(.publicKey, digest: PortableSHA256.digest(Array(layout.publicKeyInfo)))
        certificatePin = CertificatePin(.certificate, digest: PortableSHA256.digest(bytes))
    }

    /// The platform library's judgment of whether bytes are a certificate.
    private static func isValid(_ der: Data) throws -> Bool {
        #if canImport(Security)
        return SecCertificateCreateWithData(nil, der as CFData) != nil
        #elseif os(Linux)
        try OpenSSLLibrary.load()
        return OpenSSLObject.certificate(der) != nil
        #else
        throw TransportError(.unsupported, "Certificates can't be read on this platform.")
        #endif
    }

    static func all(_ content: Data, source: String) throws -> [TLSCertificate] {
        guard PEM.isText(content) else { return [try TLSCertificate(der: content, source: source)] }
        let certificates = PEM.blocks(content)?.filter { $0.label == "CERTIFICATE" || $0.label == "X509 CERTIFICATE" }
        guard let certificates, !certificates.isEmpty else {
            throw TransportError(.notACertificate, "\(source) holds no complete CERTIFICATE block.")
        }
        return try certificates.map { try TLSCertificate(der: $0.der, source: "A block of \(source)") }
    }

    private static func one(_ certificates: [TLSCertificate], source: String) throws -> TLSCertificate {
        guard certificates.count == 1, let certificate = certificates.first else {
            let count = certificates.count
            throw TransportError(
                .notACertificate,
                "\(source) holds \(count) certificates where one is expected."
            )
        }
        return certificate
    }

    private static func missing(_ file: URL, _ host: String) -> TransportError {
        let form = ["der", "cer"].contains(file.pathExtension.lowercased()) ? "DER" : "PEM"
        return TransportError(
            .unreadableFile,
            """
            There is no certificate file at \(file.path), or it can't be read. To fetch that of a server:
            openssl s_client -connect \(host):443 -servername \(host) </dev/null \
            | openssl x509 -outform \(form) -out '\(file.path)'
            """
        )
    }
}

// The other properties follow from the DER.
extension TLSCertificate {
    /// Whether two certificates have the same DER.
    public static func == (left: Self, right: Self) -> Bool { left.der == right.der }

    /// Hashes the DER.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

extension TLSCertificate: CustomStringConvertible {
    /// The certificate's public key pin and subject.
    public var description: String { "\(publicKeyPin) (\(subject))" }
}
