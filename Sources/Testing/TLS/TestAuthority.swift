#if os(Linux)
internal import CInterceptorsOpenSSL
public import Foundation

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
}

extension TestAuthority {
    /// Creates a self-signed root.
    ///
    /// - Throws: `TransportError` if OpenSSL can't be used.
    public init(name: String = "Test Root", validity: Range<Date>? = nil) throws {
        let (certificate, key) = try CertificateMaker.make(name, validity, CertificateMaker.authority)
        self.init(certificate: certificate, issuers: [], key: key)
    }

    /// Creates an authority below this one.
    public func intermediate(name: String = "Test Intermediate", validity: Range<Date>? = nil) throws -> TestAuthority {
        let own = (certificate: certificate, key: key)
        let (certificate, key) = try CertificateMaker.make(name, validity, CertificateMaker.authority, by: own)
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
        try issue(hosts.first ?? "nobody", validity, CertificateMaker.server(hosts))
    }

    /// Issues a server certificate with its host in the common name only, which clients must refuse (RFC 9525 §6.3).
    public func issue(commonNameOnly host: String) throws -> TestIdentity {
        try issue(host, nil, CertificateMaker.server([]))
    }

    /// Issues a certificate for a client.
    public func issue(client name: String, validity: Range<Date>? = nil) throws -> TestIdentity {
        try issue(name, validity, CertificateMaker.client)
    }

    private func issue(
        _ name: String,
        _ validity: Range<Date>?,
        _ extensions: [(kind: cossl_number, value: String)]
    ) throws -> TestIdentity {
        let (own, newKey) = try CertificateMaker.make(name, validity, extensions, by: (certificate, key))
        return TestIdentity(chain: [own] + issuers, key: newKey)
    }
}

/// A certificate with its key and intermediates, for a server or a client in a test.
public struct TestIdentity: Sendable {
    /// The identity's certificate first, then the certificates sent along.
    public let chain: [TLSCertificate]
    let key: OpenSSLObject

    /// Creates a self-signed server certificate.
    public static func selfSigned(
        for hosts: [String] = ["localhost", "127.0.0.1"],
        validity: Range<Date>? = nil
    ) throws -> Self {
        let (own, key) = try CertificateMaker.make(hosts.first ?? "nobody", validity, CertificateMaker.server(hosts))
        return Self(chain: [own], key: key)
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
        let own = certificates.first?.pointer
        let archive = cossl_PKCS12_create(password, "test", key.pointer, own, others, 0, 0, 0, 0, 0)
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

/// Makes certificates with OpenSSL.
enum CertificateMaker {
    /// A certificate with its key.
    typealias Made = (certificate: TLSCertificate, key: OpenSSLObject)

    static let authority = [
        (COSSL_NID_basic_constraints, "critical,CA:TRUE"),
        (COSSL_NID_key_usage, "critical,keyCertSign,cRLSign"),
    ]

    static let client = [(COSSL_NID_key_usage, "critical,digitalSignature"), (COSSL_NID_ext_key_usage, "clientAuth")]

    static func server(_ hosts: [String]) -> [(cossl_number, String)] {
        let names = hosts.map { host in
            let isAddress = host.contains(":") || host.split(separator: ".").allSatisfy { UInt8($0) != nil }
            return (isAddress ? "IP:" : "DNS:") + host
        }
        let usages = [(COSSL_NID_key_usage, "critical,digitalSignature"), (COSSL_NID_ext_key_usage, "serverAuth")]
        return names.isEmpty ? usages : usages + [(COSSL_NID_subject_alt_name, names.joined(separator: ","))]
    }

    static var failure: TransportError {
        TransportError(.unsupported, "OpenSSL can't make it: \(OpenSSLLibrary.takeError()).")
    }

    /// Makes a key and its certificate, self-signed if there is no issuer.
    static func make(
        _ name: String,
        _ validity: Range<Date>?,
        _ extensions: [(kind: cossl_number, value: String)],
        by issuer: Made? = nil
    ) throws -> Made {
        try OpenSSLLibrary.load()
        guard let newKey = cossl_generate_ec_key("P-256") else { throw failure }
        let key = OpenSSLObject(newKey) { cossl_EVP_PKEY_free($0) }
        guard let pointer = cossl_X509_new() else { throw failure }
        let certificate = OpenSSLObject(pointer) { cossl_X509_free($0) }
        let issuing = issuer.flatMap { OpenSSLObject.certificate($0.certificate.der) } ?? certificate
        let start = validity?.lowerBound ?? Date(timeIntervalSinceNow: -3600)
        let end = validity?.upperBound ?? Date(timeIntervalSinceNow: 86400)
        let subject = cossl_X509_get_subject_name(pointer)
        // The value 2 means version 3.
        _ = cossl_X509_set_version(pointer, 2)
        _ = cossl_ASN1_INTEGER_set_int64(cossl_X509_get_serialNumber(pointer), Int64.random(in: 1...Int64.max))
        _ = cossl_ASN1_TIME_set(cossl_X509_getm_notBefore(pointer), Int(start.timeIntervalSince1970))
        _ = cossl_ASN1_TIME_set(cossl_X509_getm_notAfter(pointer), Int(end.timeIntervalSince1970))
        _ = cossl_X509_set_pubkey(pointer, key.pointer)
        let utf8 = Int32(COSSL_MBSTRING_UTF8.rawValue)
        _ = cossl_X509_NAME_add_entry_by_txt(subject, "CN", utf8, Array(name.utf8), Int32(name.utf8.count), -1, 0)
        _ = cossl_X509_set_issuer_name(pointer, cossl_X509_get_subject_name(issuing.pointer))
        var all = extensions + [(COSSL_NID_subject_key_identifier, "hash")]
        if issuer != nil { all.append((COSSL_NID_authority_key_identifier, "keyid")) }
        for (kind, value) in all {
            guard let made = cossl_make_extension(issuing.pointer, pointer, Int32(kind.rawValue), value) else {
                throw failure
            }
            _ = cossl_X509_add_ext(pointer, made, -1)
            cossl_X509_EXTENSION_free(made)
        }
        guard cossl_X509_sign(pointer, (issuer?.key ?? key).pointer, cossl_EVP_sha256()) > 0,
            let der = OpenSSLLibrary.encode(certificate, { cossl_i2d_X509($0, $1) })
        else { throw failure }
        return (try TLSCertificate(der), key)
    }
}
#endif
