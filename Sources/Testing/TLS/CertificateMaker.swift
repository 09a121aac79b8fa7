#if os(Linux)
internal import CInterceptorsOpenSSL
internal import Foundation
internal import InterceptorsCore

/// Makes certificates with OpenSSL.
struct CertificateMaker {
    let name: String
    let validity: Range<Date>?
    let extensions: [(kind: cossl_number, value: String)]

    static let authority = [
        (COSSL_NID_basic_constraints, "critical,CA:TRUE"),
        (COSSL_NID_key_usage, "critical,keyCertSign,cRLSign"),
    ]

    static let client = [
        (COSSL_NID_key_usage, "critical,digitalSignature"),
        (COSSL_NID_ext_key_usage, "clientAuth"),
    ]

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

    static func newKey() throws -> OpenSSLObject {
        try OpenSSLLibrary.load()
        guard let key = cossl_generate_ec_key("P-256") else { throw failure }
        return OpenSSLObject(key) { cossl_EVP_PKEY_free($0) }
    }

    /// Makes a certificate, self-signed if there is no issuer.
    func make(key: OpenSSLObject, issuer: TLSCertificate?, issuerKey: OpenSSLObject) throws -> TLSCertificate {
        guard let pointer = cossl_X509_new() else { throw Self.failure }
        let certificate = OpenSSLObject(pointer) { cossl_X509_free($0) }
        let issuing = issuer.flatMap { OpenSSLObject.certificate($0.der) } ?? certificate
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
                throw Self.failure
            }
            _ = cossl_X509_add_ext(pointer, made, -1)
            cossl_X509_EXTENSION_free(made)
        }
        guard cossl_X509_sign(pointer, issuerKey.pointer, cossl_EVP_sha256()) > 0,
            let der = OpenSSLLibrary.encode(certificate, { cossl_i2d_X509($0, $1) })
        else { throw Self.failure }
        return try TLSCertificate(der)
    }
}
#endif
