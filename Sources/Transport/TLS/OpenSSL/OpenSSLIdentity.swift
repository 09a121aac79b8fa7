#if os(Linux)
internal import CInterceptorsOpenSSL
internal import Foundation

extension ClientIdentity {
    /// OpenSSL's form of an identity.
    struct Storage: Sendable, Hashable {
        /// The client's certificate first, then the intermediates up to its root.
        let certificates: [TLSCertificate]
        /// PKCS#8 in DER.
        let privateKey: Data

        var subject: String { certificates.first?.subject ?? "no name" }

        /// The client's certificate in DER.
        var certificate: Data { certificates.first?.der ?? Data() }

        init(certificates: [TLSCertificate], privateKey text: Data, password: String?) throws {
            let key = try Self.privateKey(text, password: password)
            guard let certificate = certificates.first.flatMap({ OpenSSLObject.certificate($0.der) }) else {
                throw TransportError(.notACertificate, "There is no certificate.")
            }
            guard cossl_X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
                cossl_ERR_clear_error()
                let subject = certificates.first?.subject ?? ""
                throw TransportError(
                    .keyMismatch,
                    "The private key is not that of the first certificate (\(subject))."
                )
            }
            try self.init(certificates, key)
        }

        init(pkcs12 content: Data, password: String) throws {
            try OpenSSLLibrary.load()
            let archive = OpenSSLLibrary.decode(content, free: { cossl_PKCS12_free($0) }) {
                cossl_d2i_PKCS12($0, $1, $2)
            }
            guard let archive else {
                throw TransportError(.notAnIdentity, "The content is no PKCS#12 archive.")
            }
            guard cossl_PKCS12_verify_mac(archive.pointer, password, -1) == 1 || password.isEmpty else {
                let reason = OpenSSLLibrary.takeError()
                // OpenSSL reports no error for a digest that merely differs.
                let isWrong = reason == OpenSSLLibrary.noReason || reason.contains("mac verify")
                throw TransportError(
                    isWrong ? .wrongPassword : .notAnIdentity,
                    isWrong
                        ? "The password does not open the PKCS#12 archive."
                        : "The PKCS#12 archive is damaged: \(reason)."
                )
            }
            try self.init(parsing: archive, password: password)
        }

        private init(parsing archive: OpenSSLObject, password: String) throws {
            var (key, certificate, others):
                (
                    UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
                )
            guard cossl_PKCS12_parse(archive.pointer, password, &key, &certificate, &others) == 1 else {
                let reason = OpenSSLLibrary.takeError()
                // Archives by old tools use ciphers that OpenSSL 3 moved to its legacy provider.
                let hint =
                    reason.contains("unsupported")
                    ? " Convert it: openssl pkcs12 -legacy -in OLD.p12 -out all.pem && openssl pkcs12 -export -in all.pem -out NEW.p12"
                    : ""
                let code: HTTPErrorCode = reason.contains("mac verify") ? .wrongPassword : .notAnIdentity
                throw TransportError(code, "The PKCS#12 archive can't be opened: \(reason).\(hint)")
            }
            let ownedKey = key.map { OpenSSLObject($0) { cossl_EVP_PKEY_free($0) } }
            var all = certificate.map { [OpenSSLObject($0) { cossl_X509_free($0) }] } ?? []
            for index in 0..<max(0, cossl_OPENSSL_sk_num(others)) {
                guard let other = cossl_OPENSSL_sk_value(others, index) else { continue }
                all.append(OpenSSLObject(other) { cossl_X509_free($0) })
            }
            cossl_OPENSSL_sk_free(others)
            guard let ownedKey, certificate != nil else {
                throw TransportError(
                    .notAnIdentity,
                    "The PKCS#12 archive holds no private key with its certificate."
                )
            }
            try self.init(all.map { try TLSCertificate(openSSL: $0.pointer) }, ownedKey)
        }

        private init(_ certificates: [TLSCertificate], _ key: OpenSSLObject) throws {
            guard let info = key.privateKeyInfo else {
                throw TransportError(
                    .notAPrivateKey,
                    "The private key can't be used: \(OpenSSLLibrary.takeError())."
                )
            }
            self.certificates = certificates
            privateKey = info
        }

        private static func privateKey(_ text: Data, password: String?) throws -> OpenSSLObject {
            try OpenSSLLibrary.load()
            if !PEM.isText(text), let key = OpenSSLObject.privateKey(text) { return key }
            let bytes = [UInt8](text)
            guard let bio = cossl_BIO_new_mem_buf(bytes, Int32(bytes.count)) else {
                throw TransportError(.notAPrivateKey, "Out of memory.")
            }
            defer { _ = cossl_BIO_free(bio) }
            // Without a callback, OpenSSL would prompt on the terminal.
            let key = withExtendedLifetime(bytes) {
                withUnsafePointer(to: password ?? "") { password in
                    cossl_PEM_read_bio_PrivateKey(bio, nil, givePassword, UnsafeMutableRawPointer(mutating: password))
                }
            }
            guard let key else {
                let reason = OpenSSLLibrary.takeError()
                let isEncrypted = String(decoding: bytes, as: UTF8.self).contains("ENCRYPTED")
                throw TransportError(
                    isEncrypted ? .wrongPassword : .notAPrivateKey,
                    isEncrypted
                        ? "The private key is encrypted, and the password \(password == nil ? "is missing" : "does not open it")."
                        : "The content is no private key in PEM: \(reason)."
                )
            }
            return OpenSSLObject(key) { cossl_EVP_PKEY_free($0) }
        }
    }
}

private let givePassword: cossl_password_callback = { buffer, size, _, argument in
    guard let buffer, let password = argument?.assumingMemoryBound(to: String.self).pointee else { return -1 }
    let bytes = Array(password.utf8)
    guard bytes.count <= Int(size) else { return -1 }
    for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
    return Int32(bytes.count)
}

extension TLSCertificate {
    /// Creates a certificate from OpenSSL's object.
    init(openSSL certificate: UnsafeMutableRawPointer) throws {
        guard let der = OpenSSLLibrary.encode(certificate, { cossl_i2d_X509($0, $1) }) else {
            throw TransportError(.notACertificate, "OpenSSL can't encode a certificate.")
        }
        try self.init(der: der, source: "A certificate of OpenSSL")
    }
}
#endif
