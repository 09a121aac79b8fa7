#if os(Linux)
internal import CInterceptorsOpenSSL
public import Foundation
public import InterceptorsCore

/// A certificate authority for tests: a new root, and the certificates it issues.
///
/// ```swift
/// let root = try TestAuthority()
/// let server = try MockServer(tls: root.issue(for: ["localhost"]))
/// let client = Client(baseURL: server.url, transport: .platform(tls: .init(trust: .only([root.certificate]))))
/// ```
/// Each authority generates new P-256 keys, so a repository contains no secrets and nothing that expires. Linux only, because
/// the authority uses the system's OpenSSL.
public struct TestAuthority: Sendable {
    /// The authority's certificate. For a root, this is the trust anchor.
    public let certificate: TLSCertificate
    /// The certificates sent along with an issued certificate: this authority's and those above it, without the root.
    let issuers: [TLSCertificate]
    private let key: OpenSSLObject

    /// Creates a self-signed root.
    ///
    /// - Throws: `TransportError` if OpenSSL can't be used.
    public init(name: String = "Test Root", validity: Range<Date>? = nil) throws {
        let key = try CertificateMaker.newKey()
        let maker = CertificateMaker(name: name, validity: validity, extensions: CertificateMaker.authority)
        certificate = try maker.make(key: key, issuer: nil, issuerKey: key)
        self.key = key
        issuers = []
    }

    private init(certificate: TLSCertificate, issuers: [TLSCertificate], key: OpenSSLObject) {
        self.certificate = certificate
        self.issuers = issuers
        self.key = key
    }

    /// Creates an authority below this one.
    public func intermediate(name: String = "Test Intermediate", validity: Range<Date>? = nil) throws -> TestAuthority {
        let key = try CertificateMaker.newKey()
        let maker = CertificateMaker(name: name, validity: validity, extensions: CertificateMaker.authority)
        let certificate = try maker.make(key: key, issuer: self.certificate, issuerKey: self.key)
        return TestAuthority(certificate: certificate, issuers: [certificate] + issuers, key: key)
    }

    /// Issues a certificate for a server.
    ///
    /// - Parameters:
    ///   - hosts: host names and IP addresses. The first becomes the common name.
    ///   - validity: the period of validity. By default from an hour ago until 24 hours from now.
    public func issue(
        for hosts: [String] = ["localhost", "127.0.0.1"],
        validity: Range<Date>? = nil
    ) throws -> TestIdentity {
        let extensions = CertificateMaker.server(hosts)
        let maker = CertificateMaker(name: hosts.first ?? "nobody", validity: validity, extensions: extensions)
        return try issue(maker)
    }

    /// Issues a server certificate with its host in the common name only, which clients must refuse (RFC 9525 §6.3).
    public func issue(commonNameOnly host: String) throws -> TestIdentity {
        try issue(CertificateMaker(name: host, validity: nil, extensions: CertificateMaker.server([])))
    }

    /// Issues a certificate for a client.
    public func issue(client name: String, validity: Range<Date>? = nil) throws -> TestIdentity {
        try issue(CertificateMaker(name: name, validity: validity, extensions: CertificateMaker.client))
    }

    private func issue(_ maker: CertificateMaker) throws -> TestIdentity {
        let key = try CertificateMaker.newKey()
        let own = try maker.make(key: key, issuer: certificate, issuerKey: self.key)
        return TestIdentity(chain: [own] + issuers, key: key)
    }
}

/// A certificate with its key and intermediates, for a server or a client in a test.
public struct TestIdentity: Sendable {
    /// The identity's certificate first, then the certificates sent along.
    public let chain: [TLSCertificate]
    let key: OpenSSLObject

    init(chain: [TLSCertificate], key: OpenSSLObject) {
        self.chain = chain
        self.key = key
    }

    /// Creates a self-signed server certificate.
    public static func selfSigned(
        for hosts: [String] = ["localhost", "127.0.0.1"],
        validity: Range<Date>? = nil
    ) throws -> Self {
        let key = try CertificateMaker.newKey()
        let extensions = CertificateMaker.server(hosts)
        let maker = CertificateMaker(name: hosts.first ?? "nobody", validity: validity, extensions: extensions)
        return Self(chain: [try maker.make(key: key, issuer: nil, issuerKey: key)], key: key)
    }

    /// This identity with further certificates to send along, as a server may send certificates unrelated to its own.
    public func sendingAlong(_ certificates: [TLSCertificate]) -> Self { Self(chain: chain + certificates, key: key) }

    /// The certificates in PEM, the identity's own first.
    public var certificatesPEM: Data { Data(chain.map { Self.pem("CERTIFICATE", $0.der) }.joined().utf8) }

    /// The private key in PEM.
    public var privateKeyPEM: Data { Data(Self.pem("PRIVATE KEY", key.privateKeyInfo ?? Data()).utf8) }

    /// The identity in the form that a client presents.
    public var clientIdentity: ClientIdentity {
        get throws { try ClientIdentity(certificate: certificatesPEM, privateKey: privateKeyPEM) }
    }

    /// A PKCS#12 archive of the certificates and the key.
    public func pkcs12(password: String) throws -> Data {
        let certificates = chain.compactMap { OpenSSLObject.certificate($0.der) }
        let others = cossl_OPENSSL_sk_new_null()
        defer { cossl_OPENSSL_sk_free(others) }
        for certificate in certificates.dropFirst() { _ = cossl_OPENSSL_sk_push(others, certificate.pointer) }
        let archive = cossl_PKCS12_create(
            password,
            "test",
            key.pointer,
            certificates.first?.pointer,
            others,
            0,
            0,
            0,
            0,
            0
        )
        guard let archive else { throw CertificateMaker.failure }
        let owned = OpenSSLObject(archive) { cossl_PKCS12_free($0) }
        guard let der = OpenSSLLibrary.encode(owned, { cossl_i2d_PKCS12($0, $1) }) else {
            throw CertificateMaker.failure
        }
        return der
    }

    private static func pem(_ label: String, _ der: Data) -> String {
        let base64 = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }
}
#endif
