internal import Foundation

#if canImport(CryptoKit)
internal import CryptoKit

/// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104).
package enum SHA256Digest {
    package static func of(_ bytes: [UInt8]) throws -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    package static func authenticationCode(of bytes: [UInt8], key: [UInt8]) throws -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }
}
#elseif os(Linux)
internal import COpenSSL

/// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104).
package enum SHA256Digest {
    private static let size = 32

    package static func of(_ bytes: [UInt8]) throws -> [UInt8] {
        try OpenSSLLibrary.load()
        var digest = [UInt8](repeating: 0, count: size)
        guard cossl_EVP_Digest(bytes, bytes.count, &digest, nil, cossl_EVP_sha256(), nil) == 1 else {
            throw TLSConfigurationError(.unsupported, "OpenSSL can't do SHA-256: \(OpenSSLLibrary.takeError()).")
        }
        return digest
    }

    package static func authenticationCode(of bytes: [UInt8], key: [UInt8]) throws -> [UInt8] {
        try OpenSSLLibrary.load()
        var code = [UInt8](repeating: 0, count: size)
        guard cossl_HMAC(cossl_EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, nil) != nil else {
            throw TLSConfigurationError(.unsupported, "OpenSSL can't do HMAC-SHA-256: \(OpenSSLLibrary.takeError()).")
        }
        return code
    }
}
#endif
