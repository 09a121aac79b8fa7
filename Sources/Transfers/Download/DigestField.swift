internal import Foundation
internal import InterceptorsSyntax

/// The value of `Repr-Digest` and `Content-Digest` (RFC 9530 §2, §3).
///
/// ```
/// Repr-Digest: sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:, sha-512=:…:
/// ```
struct DigestField: Sendable, Hashable {
    /// 32 bytes; `nil` if the field has no SHA-256, or its value has another length.
    private(set) var sha256: [UInt8]?

    /// Fails if the field isn't a dictionary of byte sequences (RFC 8941 §3.2).
    ///
    /// - Parameter text: the field's value; several field lines joined with commas.
    init?(_ text: String) {
        var cursor = FieldCursor(text)
        cursor.skipWhitespace()
        while !cursor.isAtEnd {
            let key = cursor.takeLowercasedToken()
            guard !key.isEmpty, cursor.take("="), let bytes = Self.takeBytes(&cursor) else { return nil }
            // Parameters of a digest have no meaning yet.
            _ = cursor.takeWhile { $0 != UInt8(ascii: ",") }
            // RFC 8941 §3.2: of two members with one key, the last counts.
            if key == "sha-256" { sha256 = bytes.count == 32 ? bytes : nil }
            guard cursor.take(",") || cursor.isAtEnd else { return nil }
            cursor.skipWhitespace()
        }
    }

    private static func takeBytes(_ cursor: inout FieldCursor) -> [UInt8]? {
        guard cursor.take(":") else { return nil }
        let text = cursor.takeWhile { $0 != UInt8(ascii: ":") }
        guard cursor.take(":") else { return nil }
        return Data(base64Encoded: Data(text)).map { Array($0) }
    }
}
