#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation

/// An Ed25519 public key, a kind that Security doesn't support.
struct Ed25519Key {
    private let key: Curve25519.Signing.PublicKey

    init?(_ bits: Data) {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bits) else { return nil }
        self.key = key
    }

    func verifies(_ signature: Data, of bytes: Data) -> Bool { key.isValidSignature(signature, for: bytes) }
}
#endif
