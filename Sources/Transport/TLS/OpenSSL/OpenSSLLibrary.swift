#if os(Linux)
internal import COpenSSL
package import Foundation

/// The system's OpenSSL, as far as it is there.
package enum OpenSSLLibrary {
    /// Throws what makes OpenSSL unusable: it is missing, or another version.
    package static func load() throws {
        guard let reason = cossl_load() else { return }
        throw TLSConfigurationError(.unsupported, "TLS settings need OpenSSL: \(String(cString: reason)).")
    }

    /// What stands for a reason where OpenSSL gives none.
    static let noReason = "no reason given"

    /// What OpenSSL says of its last failure on this thread; forgets it and those before.
    package static func takeError() -> String {
        var last: UInt = 0
        while case let code = cossl_ERR_get_error(), code != 0 { last = code }
        guard last != 0, let reason = cossl_ERR_reason_error_string(last) else { return noReason }
        return String(cString: reason)
    }

    /// The DER of an object, by its i2d function.
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

    /// An object of its DER, by its d2i function; `nil` unless the bytes are exactly one.
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

/// An object of OpenSSL's, freed with its last owner.
///
/// `@unchecked Sendable`: certificates, keys, trust stores and SSL_CTXs may be used by several threads at once as long as
/// none changes them (openssl-threads(7)), and nobody here changes one after it was made; their counts are atomic.
package final class OpenSSLObject: @unchecked Sendable {
    package typealias Free = @Sendable (UnsafeMutableRawPointer?) -> Void

    package let pointer: UnsafeMutableRawPointer
    private let free: Free

    /// Owns the object from now on.
    package init(_ pointer: UnsafeMutableRawPointer, free: @escaping Free) {
        self.pointer = pointer
        self.free = free
    }

    deinit { free(pointer) }
}

extension OpenSSLObject {
    /// The certificate in DER; `nil` if it is none.
    package static func certificate(_ der: Data) -> OpenSSLObject? {
        OpenSSLLibrary.decode(der, free: { cossl_X509_free($0) }) { cossl_d2i_X509($0, $1, $2) }
    }

    /// The private key in DER (PKCS#8, or its traditional form); `nil` if it is none.
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
