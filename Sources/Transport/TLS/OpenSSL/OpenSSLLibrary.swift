#if os(Linux)
internal import CInterceptorsOpenSSL
package import Foundation

/// The system's OpenSSL, if installed.
package enum OpenSSLLibrary {
    /// Throws if OpenSSL is unusable, because it is missing or has another version.
    package static func load() throws {
        guard let reason = cossl_load() else { return }
        throw TransportError(.unsupported, "TLS settings need OpenSSL: \(String(cString: reason)).")
    }

    /// The file with the certificates that the system trusts: the one that `SSL_CERT_FILE` names, or the first readable one of the
    /// distributions' usual files. `nil` if none of them can be read.
    static let certificateFile: String? = {
        let usual = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ]
        return ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
            ?? usual.first { FileManager.default.isReadableFile(atPath: $0) }
    }()

    /// Text used when OpenSSL gives no reason.
    static let noReason = "no reason given"

    /// OpenSSL's reason for the last failure on this thread. Clears the thread's whole error queue.
    package static func takeError() -> String {
        var last: UInt = 0
        while case let code = cossl_ERR_get_error(), code != 0 { last = code }
        guard last != 0, let reason = cossl_ERR_reason_error_string(last) else { return noReason }
        return String(cString: reason)
    }

    /// The DER of an object, encoded by its i2d function.
    package static func encode(
        _ object: OpenSSLObject,
        _ encode: (UnsafeRawPointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> Data? {
        withExtendedLifetime(object) { self.encode(object.pointer, encode) }
    }

    static func encode(
        _ object: UnsafeMutableRawPointer,
        _ encode: (UnsafeRawPointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> Data? {
        let count = Int(encode(object, nil))
        guard count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let written = bytes.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return encode(object, &cursor)
        }
        return Int(written) == count ? Data(bytes) : nil
    }

    /// Decodes an object from DER by its d2i function. Returns `nil` unless the bytes are exactly one object.
    package static func decode(
        _ der: Data,
        free: @escaping OpenSSLObject.Free,
        _ decode: (
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
        ) -> UnsafeMutableRawPointer?
    ) -> OpenSSLObject? {
        let (object, used) = [UInt8](der).withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            let object = decode(nil, &cursor, bytes.count)
            return (object, cursor.flatMap { end in bytes.baseAddress.map { end - $0 } } ?? 0)
        }
        guard let object else {
            cossl_ERR_clear_error()
            return nil
        }
        let owned = OpenSSLObject(object, free: free)
        return used == der.count ? owned : nil
    }
}

/// An OpenSSL object, freed with its last reference.
///
/// `@unchecked Sendable` is safe: several threads may use certificates, keys, trust stores and SSL_CTXs at once while nobody
/// changes them (openssl-threads(7)). This code changes no object after creating it, and OpenSSL's reference counts are atomic.
package final class OpenSSLObject: @unchecked Sendable {
    package typealias Free = @Sendable (UnsafeMutableRawPointer?) -> Void

    package let pointer: UnsafeMutableRawPointer
    private let free: Free

    /// Takes ownership of the object.
    package init(_ pointer: UnsafeMutableRawPointer, free: @escaping Free) {
        self.pointer = pointer
        self.free = free
    }

    deinit { free(pointer) }
}

extension OpenSSLObject {
    /// Decodes a certificate from DER. Returns `nil` if the data isn't a certificate.
    package static func certificate(_ der: Data) -> OpenSSLObject? {
        OpenSSLLibrary.decode(der, free: { cossl_X509_free($0) }) { cossl_d2i_X509($0, $1, $2) }
    }

    /// Decodes a private key from DER, in PKCS#8 or traditional form. Returns `nil` if the data isn't a private key.
    package static func privateKey(_ der: Data) -> OpenSSLObject? {
        OpenSSLLibrary.decode(der, free: { cossl_EVP_PKEY_free($0) }) { cossl_d2i_AutoPrivateKey($0, $1, $2) }
    }

    /// The private key as PKCS#8 in DER.
    package var privateKeyInfo: Data? {
        guard let info = cossl_EVP_PKEY2PKCS8(pointer) else { return nil }
        defer { cossl_PKCS8_PRIV_KEY_INFO_free(info) }
        return OpenSSLLibrary.encode(info) { cossl_i2d_PKCS8_PRIV_KEY_INFO($0, $1) }
    }
}
#endif
