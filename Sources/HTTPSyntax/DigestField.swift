internal import Foundation

/// The value of `Repr-Digest` and `Content-Digest` (RFC 9530 §2, §3).
///
/// ```
/// Repr-Digest: sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:, sha-512=:…:
/// ```
package enum DigestField {
    private static let algorithm = "sha-256"

    /// The SHA-256 of a field, 32 bytes; `nil` if the field has none, or isn't a dictionary of byte sequences (RFC 8941 §3.2).
    ///
    /// - Parameter text: the field's value; several field lines joined with commas.
    package static func sha256(in text: String) -> [UInt8]? {
        var found: [UInt8]?
        var cursor = FieldCursor(text)
        cursor.skipWhitespace()
        while !cursor.isAtEnd {
            let key = cursor.takeLowercasedToken()
            guard !key.isEmpty, cursor.take("="), let bytes = takeBytes(&cursor) else { return nil }
            // Parameters of a digest have no meaning yet.
            _ = cursor.takeWhile { $0 != UInt8(ascii: ",") }
            // RFC 8941 §3.2: of two members with one key, the last counts.
            if key == algorithm { found = bytes }
            guard cursor.take(",") || cursor.isAtEnd else { return nil }
            cursor.skipWhitespace()
        }
        return found?.count == 32 ? found : nil
    }

    private static func takeBytes(_ cursor: inout FieldCursor) -> [UInt8]? {
        guard cursor.take(":") else { return nil }
        let text = cursor.takeWhile { $0 != UInt8(ascii: ":") }
        guard cursor.take(":") else { return nil }
        return Data(base64Encoded: Data(text)).map { Array($0) }
    }
}
