#if os(Linux)
public import Foundation
public import Interceptors
internal import COpenSSL

/// A certificate authority for tests: a root of its own, and what it has issued.
///
/// ```swift
/// let root = try TestAuthority()
/// let server = try MockServer(tls: .init(identity: root.issue(for: ["localhost"])))
/// let client = Client(baseURL: server.url, transport: .platform(tls: .init(trust: .only([root.certificate]))))
/// ```
/// Keys are made anew (P-256) each time, so that there is nothing to keep secret and nothing that expires in a repository.
/// On Linux only: it uses the system's OpenSSL.
public struct TestAuthority: Sendable {
    /// The authority's own certificate: the anchor, if it is a root.
    public let certificate: TLSCertificate
    /// What is sent along with a certificate that it issues: itself and those above it, without the root.
    let issuers: [TLSCertificate]
    private let key: OpenSSLObject

    /// A root that has signed itself.
    ///
    /// - Throws: `TLSConfigurationError` if OpenSSL can't be used.
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

    /// An authority below this one.
    public func intermediate(name: String = "Test Intermediate", validity: Range<Date>? = nil) throws -> TestAuthority {
        let key = try CertificateMaker.newKey()
        let maker = CertificateMaker(name: name, validity: validity, extensions: CertificateMaker.authority)
        let certificate = try maker.make(key: key, issuer: self.certificate, issuerKey: self.key)
        return TestAuthority(certificate: certificate, issuers: [certificate] + issuers, key: key)
    }

    /// A certificate for a server.
    ///
    /// - Parameters:
    ///   - hosts: names and IP addresses, the first of which is its common name.
    ///   - validity: from when until when; by default from an hour ago until tomorrow.
    public func issue(
        for hosts: [String] = ["localhost", "127.0.0.1"],
        validity: Range<Date>? = nil
    ) throws -> TestIdentity {
        let extensions = CertificateMaker.server(hosts)
        let maker = CertificateMaker(name: hosts.first ?? "nobody", validity: validity, extensions: extensions)
        return try issue(maker)
    }

    /// A certificate for a server that names its host in the common name alone, which clients must refuse (RFC 9525 §6.3).
    public func issue(commonNameOnly host: String) throws -> TestIdentity {
        try issue(CertificateMaker(name: host, validity: nil, extensions: CertificateMaker.server([])))
    }

    /// A certificate for a client.
    public func issue(client name: String, validity: Range<Date>? = nil) throws -> TestIdentity {
        try issue(CertificateMaker(name: name, validity: validity, extensions: CertificateMaker.client))
    }

    private func issue(_ maker: CertificateMaker) throws -> TestIdentity {
        let key = try CertificateMaker.newKey()
        let own = try maker.make(key: key, issuer: certificate, issuerKey: self.key)
        return TestIdentity(chain: [own] + issuers, key: key)
    }
}

/// A certificate with its key and the certificates between it and its root, for a server or a client in a test.
public struct TestIdentity: Sendable {
    /// Its own certificate first.
    public let chain: [TLSCertificate]
    let key: OpenSSLObject

    init(chain: [TLSCertificate], key: OpenSSLObject) {
        self.chain = chain
        self.key = key
    }

    /// A server's certificate that has signed itself.
    public static func selfSigned(
        for hosts: [String] = ["localhost", "127.0.0.1"],
        validity: Range<Date>? = nil
    ) throws -> Self {
        let key = try CertificateMaker.newKey()
        let extensions = CertificateMaker.server(hosts)
        let maker = CertificateMaker(name: hosts.first ?? "nobody", validity: validity, extensions: extensions)
        return Self(chain: [try maker.make(key: key, issuer: nil, issuerKey: key)], key: key)
    }

    /// The same, which sends further certificates along, as a server may that has nothing to do with them.
    public func sendingAlong(_ certificates: [TLSCertificate]) -> Self { Self(chain: chain + certificates, key: key) }

    /// The certificates in PEM, its own first.
    public var certificatesPEM: Data { Data(chain.map { Self.pem("CERTIFICATE", $0.der) }.joined().utf8) }

    /// The private key in PEM.
    public var privateKeyPEM: Data { Data(Self.pem("PRIVATE KEY", key.privateKeyInfo ?? Data()).utf8) }

    /// What a client presents.
    public var clientIdentity: ClientIdentity {
        get throws { try ClientIdentity(certificate: certificatesPEM, privateKey: privateKeyPEM) }
    }

    /// A PKCS#12 archive of certificates and key.
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
