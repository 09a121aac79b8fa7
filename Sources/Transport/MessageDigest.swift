package import Foundation
internal import InterceptorsSyntax

#if canImport(CryptoKit)
internal import CryptoKit
#elseif os(Linux)
internal import CInterceptorsOpenSSL
#endif

/// Thrown when no digest can be computed here, because OpenSSL is missing or its policy forbids the algorithm.
package struct DigestUnavailable: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The digest of bytes that arrive in pieces.
package struct MessageDigest: ~Copyable {
    package enum Algorithm: Sendable, Hashable {
        /// RFC 1321. Broken for signatures; present only for servers whose digest authentication offers nothing better.
        case md5
        /// FIPS 180-4.
        case sha256

        fileprivate var size: Int {
            switch self {
            case .md5: 16
            case .sha256: 32
            }
        }
    }

    /// The digest of a complete message.
    package static func of(_ bytes: some DataProtocol, _ algorithm: Algorithm = .sha256) throws -> [UInt8] {
        var digest = try MessageDigest(algorithm)
        try digest.update(bytes)
        return try digest.finish()
    }

    #if canImport(CryptoKit)
    private var md5 = Insecure.MD5()
    private var sha256 = SHA256()
    private let algorithm: Algorithm

    package init(_ algorithm: Algorithm = .sha256) throws { self.algorithm = algorithm }

    package mutating func update(_ bytes: some DataProtocol) throws {
        switch algorithm {
        case .md5: md5.update(data: bytes)
        case .sha256: sha256.update(data: bytes)
        }
    }

    package consuming func finish() throws -> [UInt8] {
        switch algorithm {
        case .md5: Array(md5.finalize())
        case .sha256: Array(sha256.finalize())
        }
    }

    /// HMAC with SHA-256 (RFC 2104).
    package static func authenticationCode(of bytes: [UInt8], key: [UInt8]) throws -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }
    #elseif os(Linux)
    private let context: UnsafeMutableRawPointer
    private let algorithm: Algorithm

    package init(_ algorithm: Algorithm = .sha256) throws {
        try Self.load()
        guard let context = cossl_EVP_MD_CTX_new() else { throw Self.failure("no memory") }
        let type =
            switch algorithm {
            case .md5: cossl_EVP_md5()
            case .sha256: cossl_EVP_sha256()
            }
        guard cossl_EVP_DigestInit_ex(context, type, nil) == 1 else {
            cossl_EVP_MD_CTX_free(context)
            throw Self.failure("it refuses \(algorithm): \(OpenSSLLibrary.takeError())")
        }
        self.context = context
        self.algorithm = algorithm
    }

    deinit { cossl_EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: some DataProtocol) throws {
        for region in bytes.regions {
            let isDone = region.withUnsafeBytes { cossl_EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
            guard isDone else { throw Self.failure(OpenSSLLibrary.takeError()) }
        }
    }

    package consuming func finish() throws -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: algorithm.size)
        guard cossl_EVP_DigestFinal_ex(context, &digest, nil) == 1 else {
            throw Self.failure(OpenSSLLibrary.takeError())
        }
        return digest
    }

    /// HMAC with SHA-256 (RFC 2104).
    package static func authenticationCode(of bytes: [UInt8], key: [UInt8]) throws -> [UInt8] {
        try load()
        var code = [UInt8](repeating: 0, count: Algorithm.sha256.size)
        guard cossl_HMAC(cossl_EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, nil) != nil else {
            throw failure(OpenSSLLibrary.takeError())
        }
        return code
    }

    private static func load() throws {
        if let reason = cossl_load() { throw failure(String(cString: reason)) }
    }

    private static func failure(_ reason: String) -> DigestUnavailable {
        DigestUnavailable("OpenSSL can't be used for digests: \(reason)")
    }
    #else
    package init(_ algorithm: Algorithm = .sha256) throws { throw Self.unavailable }

    package mutating func update(_ bytes: some DataProtocol) throws { throw Self.unavailable }

    package consuming func finish() throws -> [UInt8] { throw Self.unavailable }

    /// HMAC with SHA-256 (RFC 2104).
    package static func authenticationCode(of bytes: [UInt8], key: [UInt8]) throws -> [UInt8] { throw unavailable }

    private static var unavailable: DigestUnavailable {
        DigestUnavailable("This platform has neither CryptoKit nor an OpenSSL that this package can use.")
    }
    #endif
}
