#if os(Linux)
internal import CInterceptorsOpenSSL
internal import Foundation
internal import InterceptorsCore

/// Makes certificates with OpenSSL.
enum CertificateMaker {
    /// A certificate with its key.
    typealias Made = (certificate: TLSCertificate, key: OpenSSLObject)

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
