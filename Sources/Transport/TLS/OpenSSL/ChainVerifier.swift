#if os(Linux)
internal import CInterceptorsOpenSSL
internal import Foundation

/// Verifies servers' chains according to the TLS settings, in place of OpenSSL's own verification.
///
/// The verifier has a separate trust store, because libcurl's versions differ in which roots they load and whether connections
/// share them.
final class ChainVerifier: Sendable {
    private let tls: TLSConfiguration
    private let store: OpenSSLObject
    private let identity: Identity?

    private struct Identity: Sendable {
        let certificate: OpenSSLObject
        let others: [OpenSSLObject]
        let key: OpenSSLObject
    }

    init(_ tls: TLSConfiguration) throws {
        try OpenSSLLibrary.load()
        self.tls = tls
        store = try Self.store(tls.trust)
        identity = try tls.identity.map(Self.load)
    }

    private static func store(_ trust: TLSTrust) throws -> OpenSSLObject {
        guard let pointer = cossl_X509_STORE_new() else { throw outOfMemory }
        let store = OpenSSLObject(pointer) { cossl_X509_STORE_free($0) }
        // An anchor need not be a root: a test may trust a server's own certificate.
        _ = cossl_X509_STORE_set_flags(pointer, UInt(COSSL_X509_V_FLAG_PARTIAL_CHAIN.rawValue))
        if trust.usesSystem {
            // Errors are ignored, because a store without roots trusts nobody and so can only refuse too much.
            if let path = OpenSSLLibrary.certificateFile {
                _ = cossl_X509_STORE_load_locations(pointer, path, nil)
            } else {
                _ = cossl_X509_STORE_set_default_paths(pointer)
            }
        }
        for anchor in trust.anchors {
            guard let certificate = OpenSSLObject.certificate(anchor.der),
                cossl_X509_STORE_add_cert(pointer, certificate.pointer) == 1
            else { throw outOfMemory }
        }
        cossl_ERR_clear_error()
        return store
    }

    private static func load(_ identity: ClientIdentity) throws -> Identity {
        let certificates = identity.storage.certificates.compactMap { OpenSSLObject.certificate($0.der) }
        guard let certificate = certificates.first, let key = OpenSSLObject.privateKey(identity.storage.privateKey)
        else {
            throw outOfMemory
        }
        return Identity(certificate: certificate, others: Array(certificates.dropFirst()), key: key)
    }

    private static let outOfMemory = TransportError(.unsupported, "OpenSSL is out of memory.")
}

extension ChainVerifier {
    /// Sets the client identity, if any, on a client's SSL_CTX. Returns whether OpenSSL accepted it.
    func present(to sslContext: UnsafeMutableRawPointer) -> Bool {
        guard let identity else { return true }
        guard cossl_SSL_CTX_use_certificate(sslContext, identity.certificate.pointer) == 1,
            cossl_SSL_CTX_use_PrivateKey(sslContext, identity.key.pointer) == 1
        else { return false }
        return identity.others.allSatisfy { other in
            // 1: OpenSSL takes an additional reference.
            cossl_SSL_CTX_ctrl(sslContext, Int32(COSSL_SSL_CTRL_CHAIN_CERT.rawValue), 1, other.pointer) == 1
        }
    }

    /// Verifies the chain that a server has sent.
    ///
    /// - Parameters:
    ///   - handshake: the handshake's X509_STORE_CTX, which receives the result.
    ///   - namedHost: the requested host, used if the handshake sends no server name. `nil` if unknown.
    /// - Returns: the error, or `nil` if the chain is accepted.
    func verify(_ handshake: UnsafeMutableRawPointer, namedHost: String?) -> TransportError? {
        let failure = judge(handshake, namedHost: namedHost)
        if failure == nil {
            cossl_X509_STORE_CTX_set_error(handshake, Int32(COSSL_X509_V_OK.rawValue))
        } else if cossl_X509_STORE_CTX_get_error(handshake) == COSSL_X509_V_OK.rawValue {
            cossl_X509_STORE_CTX_set_error(handshake, Int32(COSSL_X509_V_ERR_APPLICATION_VERIFICATION.rawValue))
        }
        cossl_ERR_clear_error()
        return failure
    }

    private func judge(_ handshake: UnsafeMutableRawPointer, namedHost: String?) -> TransportError? {
        // The server name in the handshake takes precedence over the URL's host. IP addresses are never sent as a server name.
        let name = Self.serverName(handshake)
        let host = name ?? namedHost ?? "the proxy"
        let mayBeExempt = name != nil || namedHost.map { HostPattern.isAddress(HostPattern.normalized($0)) } ?? false
        guard let leaf = cossl_X509_STORE_CTX_get0_cert(handshake), let context = cossl_X509_STORE_CTX_new() else {
            return TransportError(.tlsFailed, "\(host) sent no certificate.")
        }
        defer { cossl_X509_STORE_CTX_free(context) }
        let untrusted = cossl_X509_STORE_CTX_get0_untrusted(handshake)
        guard cossl_X509_STORE_CTX_init(context, store.pointer, leaf, untrusted) == 1,
            cossl_X509_STORE_CTX_set_default(context, "ssl_server") == 1
        else { return TransportError(.tlsFailed, "OpenSSL can't verify: \(OpenSSLLibrary.takeError()).") }
        let strictness = cossl_X509_VERIFY_PARAM_get_auth_level(cossl_X509_STORE_CTX_get0_param(handshake))
        cossl_X509_VERIFY_PARAM_set_auth_level(cossl_X509_STORE_CTX_get0_param(context), strictness)

        let isExempt = mayBeExempt && tls.acceptsAnyCertificate(from: host)
        let ignoresNames = mayBeExempt && tls.ignoresNames(of: host)
        let chain: [UnsafeMutableRawPointer]
        var failure: TransportError?
        if cossl_X509_verify_cert(context) == 1 {
            chain = Self.elements(cossl_X509_STORE_CTX_get0_chain(context))
            // libcurl compares the names of the other hosts.
            if isExempt, !ignoresNames, !Self.names(leaf, host) { failure = .otherName(host) }
            guard isExempt || ignoresNames || Self.namesHost(leaf) else { return .namelessCertificate(host) }
        } else {
            chain = [leaf] + Self.elements(untrusted).filter { $0 != leaf }
            failure = Self.refusal(context, host)
        }
        let refusal = tls.refusal(of: host, after: failure, isExempt: isExempt) {
            try chain.map { try TLSCertificate(openSSL: $0) }
        }
        if failure != nil, refusal != nil {
            cossl_X509_STORE_CTX_set_error(handshake, cossl_X509_STORE_CTX_get_error(context))
        }
        return refusal
    }

    private static func refusal(_ context: UnsafeMutableRawPointer, _ host: String) -> TransportError {
        let code = cossl_X509_STORE_CTX_get_error(context)
        let depth = Int(cossl_X509_STORE_CTX_get_error_depth(context))
        let reason = cossl_X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
        let chain = elements(cossl_X509_STORE_CTX_get0_chain(context))
        let certificate = chain.indices.contains(depth) ? try? TLSCertificate(openSSL: chain[depth]) : nil
        let subject = certificate.map { " (\($0.subject))" } ?? ""
        let isUnknown = reason.contains("self-signed") || reason.contains("local issuer")
        let advice = isUnknown ? " To trust its authority, or it, name it in TLSConfiguration.trust." : ""
        return TransportError(.tlsFailed, "The certificate of \(host) is not trusted: \(reason)\(subject).\(advice)")
    }

    /// Whether a certificate's subjectAltName contains a host or an address. Without one, OpenSSL and libcurl would compare the
    /// common name, which RFC 9525 §6.3 forbids.
    static func namesHost(_ certificate: UnsafeMutableRawPointer) -> Bool {
        let kind = Int32(COSSL_NID_subject_alt_name.rawValue)
        guard let names = cossl_X509_get_ext_d2i(certificate, kind, nil, nil) else { return false }
        defer { cossl_GENERAL_NAMES_free(names) }
        // A GENERAL_NAME begins with its type, a C int.
        return elements(names).contains {
            let type = $0.load(as: Int32.self)
            return type == COSSL_GEN_DNS.rawValue || type == COSSL_GEN_IPADD.rawValue
        }
    }

    /// Whether a certificate's subjectAltName contains this host.
    private static func names(_ certificate: UnsafeMutableRawPointer, _ host: String) -> Bool {
        let host = HostPattern.normalized(host)
        if HostPattern.isAddress(host) { return cossl_X509_check_ip_asc(certificate, host, 0) == 1 }
        let flags = UInt32(COSSL_X509_CHECK_FLAG_NEVER_CHECK_SUBJECT.rawValue)
        return cossl_X509_check_host(certificate, host, 0, flags, nil) == 1
    }

    private static func serverName(_ handshake: UnsafeMutableRawPointer) -> String? {
        ssl(handshake).flatMap { cossl_SSL_get_servername($0, 0) }.map { String(cString: $0) }
    }

    /// The SSL object of a handshake.
    static func ssl(_ handshake: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        cossl_X509_STORE_CTX_get_ex_data(handshake, cossl_SSL_get_ex_data_X509_STORE_CTX_idx())
    }

    private static func elements(_ stack: UnsafeMutableRawPointer?) -> [UnsafeMutableRawPointer] {
        (0..<max(0, cossl_OPENSSL_sk_num(stack))).compactMap { cossl_OPENSSL_sk_value(stack, $0) }
    }
}
#endif
