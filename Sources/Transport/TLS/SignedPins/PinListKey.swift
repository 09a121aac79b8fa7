internal import Foundation

/// A public key that verifies signed lists of pins: RSA of at least 2048 bits or an elliptic curve, both with SHA-256, or
/// Ed25519.
struct PinListKey: Sendable {
    enum Kind: Sendable {
        case rsa, ec, ed25519
    }

    let kind: Kind
    /// The SubjectPublicKeyInfo.
    let der: Data
    /// The raw key inside the SubjectPublicKeyInfo, as Security and CryptoKit require.
    let bits: Data

    /// Parses PEM with one block, `PUBLIC KEY`.
    init(pem: String) throws {
        let blocks = PEM.blocks(Data(pem.utf8)) ?? []
        guard blocks.count == 1, blocks[0].label == "PUBLIC KEY",
            let (kind, bits) = Self.parse([UInt8](blocks[0].der))
        else {
            throw Self.invalid("The text is no public key of RSA, an elliptic curve or Ed25519, in PEM.")
        }
        self.kind = kind
        der = blocks[0].der
        self.bits = Data(bits)
        try checkUsable()
    }

    static func invalid(_ message: String) -> TransportError {
        TransportError(.invalidPublicKey, message)
    }

    private static func parse(_ der: [UInt8]) -> (Kind, ArraySlice<UInt8>)? {
        let kinds: [[UInt8]: Kind] = [
            [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]: .rsa,
            [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]: .ec,
            [0x2B, 0x65, 0x70]: .ed25519,
        ]
        var outer = DERReader(der[...])
        guard let info = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
        var parts = DERReader(info.content)
        guard let algorithm = parts.next(DERReader.sequence), let bits = parts.next(0x03), parts.isAtEnd,
            bits.content.first == 0
        else { return nil }
        var names = DERReader(algorithm.content)
        guard let name = names.next(0x06), let kind = kinds[Array(name.content)] else { return nil }
        return (kind, bits.content.dropFirst())
    }
}

#if os(Linux)
internal import CInterceptorsOpenSSL

extension PinListKey {
    private func checkUsable() throws {
        try OpenSSLLibrary.load()
        guard let key else { throw Self.invalid("OpenSSL can't read the public key.") }
        guard kind != .rsa || cossl_EVP_PKEY_get_bits(key.pointer) >= 2048 else {
            throw Self.invalid("An RSA key of less than 2048 bits protects nothing.")
        }
    }

    private var key: OpenSSLObject? {
        OpenSSLLibrary.decode(der, free: { cossl_EVP_PKEY_free($0) }) { cossl_d2i_PUBKEY($0, $1, $2) }
    }

    /// Whether the signature of these bytes was made with the matching private key.
    func verifies(_ signature: Data, of bytes: Data) -> Bool {
        guard let key, let context = cossl_EVP_MD_CTX_new() else { return false }
        defer {
            cossl_EVP_MD_CTX_free(context)
            cossl_ERR_clear_error()
        }
        // Ed25519 includes its own digest.
        let digest = kind == .ed25519 ? nil : cossl_EVP_sha256()
        guard cossl_EVP_DigestVerifyInit(context, nil, digest, nil, key.pointer) == 1 else { return false }
        let (signature, bytes) = ([UInt8](signature), [UInt8](bytes))
        return cossl_EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }
}
#elseif canImport(Security)
internal import CryptoKit
internal import Security

extension PinListKey {
    private func checkUsable() throws {
        guard kind != .ed25519 else {
            guard ed25519Key != nil else { throw Self.invalid("The Ed25519 key can't be used.") }
            return
        }
        guard let key else { throw Self.invalid("Security can't read the public key.") }
        guard kind != .rsa || SecKeyGetBlockSize(key) >= 256 else {
            throw Self.invalid("An RSA key of less than 2048 bits protects nothing.")
        }
    }

    // Security doesn't support this kind.
    private var ed25519Key: Curve25519.Signing.PublicKey? { try? .init(rawRepresentation: bits) }

    private var key: SecKey? {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kind == .rsa ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
        ]
        return SecKeyCreateWithData(bits as CFData, attributes as CFDictionary, nil)
    }

    /// Whether the signature of these bytes was made with the matching private key.
    func verifies(_ signature: Data, of bytes: Data) -> Bool {
        if kind == .ed25519 { return ed25519Key?.isValidSignature(signature, for: bytes) ?? false }
        guard let key else { return false }
        let algorithm: SecKeyAlgorithm =
            kind == .rsa ? .rsaSignatureMessagePKCS1v15SHA256 : .ecdsaSignatureMessageX962SHA256
        return SecKeyVerifySignature(key, algorithm, bytes as CFData, signature as CFData, nil)
    }
}
#else
extension PinListKey {
    private func checkUsable() throws { throw Self.invalid("Signatures can't be verified on this platform.") }

    /// No key can be created on this platform, so nothing is verified.
    func verifies(_ signature: Data, of bytes: Data) -> Bool { false }
}
#endif
