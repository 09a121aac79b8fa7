public import Foundation

/// A secret that messages are signed with. Its descriptions and its mirror don't show it.
public struct SigningKey: Sendable {
    private let bytes: [UInt8]

    /// A key of these bytes.
    public init(_ bytes: Data) { self.bytes = Array(bytes) }

    /// A key of the text's UTF-8 bytes.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The HMAC with SHA-256 of a message (RFC 2104), 32 bytes.
    ///
    /// - Throws: ``SigningError`` with ``SigningError/Code/unsupported`` where the system has no cryptography.
    public func hmacSHA256(_ message: some DataProtocol) throws -> Data {
        try SigningError.digesting { Data(try MessageDigest.authenticationCode(of: Array(message), key: bytes)) }
    }

    /// The HMAC with SHA-256 of a text's UTF-8 bytes.
    public func hmacSHA256(_ message: String) throws -> Data { try hmacSHA256(Array(message.utf8)) }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That it is a key, and nothing of it.
    public var description: String { "SigningKey(\(Redaction.standard.placeholder))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without the key.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension HTTPBody {
    /// The SHA-256 of the content, 32 bytes. The body is read from its start, off the caller's actor, and can be read again.
    ///
    /// - Throws: ``SigningError`` with ``SigningError/Code/bodyNotRestartable`` for a one-shot stream, which is not touched,
    ///   and with ``SigningError/Code/unsupported`` where the system has no cryptography; what reading throws.
    @concurrent
    public func sha256() async throws -> Data {
        do {
            return Data(try await digest(.sha256))
        } catch let missing as DigestUnavailable {
            throw SigningError(.unsupported, "Nothing can be signed: \(missing).")
        }
    }

    func digest(_ algorithm: MessageDigest.Algorithm) async throws -> [UInt8] {
        guard isRestartable else { throw SigningError.bodyNotRestartable }
        if let bytes { return try MessageDigest.of(bytes, algorithm) }
        var digest = try MessageDigest(algorithm)
        for try await chunk in self { try digest.update(chunk) }
        return try digest.finish()
    }
}
