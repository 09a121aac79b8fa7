public import Foundation

/// A secret key for signing messages. The descriptions and the mirror don't show the key.
public struct SigningKey: Sendable {
    private let bytes: [UInt8]

    /// Creates a key from bytes.
    public init(_ bytes: Data) { self.bytes = Array(bytes) }

    /// Creates a key from the UTF-8 bytes of a text.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns the HMAC-SHA256 of a message (RFC 2104), 32 bytes.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unsupported` if the system's cryptography is missing.
    public func hmacSHA256(_ message: some DataProtocol) throws -> Data {
        try TransportError.signing { Data(try MessageDigest.authenticationCode(of: Array(message), key: bytes)) }
    }

    /// Returns the HMAC-SHA256 of a text's UTF-8 bytes, 32 bytes.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unsupported` if the system's cryptography is missing.
    public func hmacSHA256(_ message: String) throws -> Data { try hmacSHA256(Array(message.utf8)) }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type's name and a placeholder for the key.
    public var description: String { "SigningKey(\(Redaction.standard.placeholder))" }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, so that `dump` doesn't print the key.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension HTTPBody {
    /// Returns the SHA-256 of the content, 32 bytes.
    ///
    /// The body is read from its start, off the caller's actor, and can be read again afterwards.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.bodyNotReplayable` for a one-shot stream, which stays unread, or
    ///   with `HTTPErrorCode.unsupported` if the system's cryptography is missing; errors of reading the body.
    @concurrent
    public func sha256() async throws -> Data {
        do {
            return Data(try await digest(.sha256))
        } catch let missing as DigestUnavailable {
            throw TransportError.unsigned(.unsupported, "Nothing can be signed: \(missing).")
        }
    }

    func digest(_ algorithm: MessageDigest.Algorithm) async throws -> [UInt8] {
        guard isRestartable else { throw TransportError.signedBodyNotReplayable }
        if let data { return try MessageDigest.of(data, algorithm) }
        var digest = try MessageDigest(algorithm)
        for try await chunk in self { try digest.update(chunk) }
        return try digest.finish()
    }
}
