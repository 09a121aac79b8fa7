#if canImport(CryptoKit)
internal import Foundation

#if canImport(CommonCrypto)
// CommonCrypto stands beside CryptoKit in every SDK of Apple's. Where the code is only type-checked, neither it nor
// Curve25519 is declared.
internal import CryptoKit

/// An Ed25519 public key, which Security does not know.
struct Ed25519Key {
    private let key: Curve25519.Signing.PublicKey

    init?(_ bits: Data) {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bits) else { return nil }
        self.key = key
    }

    func verifies(_ signature: Data, of bytes: Data) -> Bool { key.isValidSignature(signature, for: bytes) }
}
#else
/// Verifies nothing.
struct Ed25519Key {
    init?(_ bits: Data) { return nil }

    func verifies(_ signature: Data, of bytes: Data) -> Bool { false }
}
#endif
#endif
