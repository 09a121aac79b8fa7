internal import Foundation

extension Redaction {
    /// The value of an `Upload-Metadata` field (tus 1.0) in printable form: keys, each with a value in base64.
    ///
    /// A value is replaced if its key is sensitive, if its text contains a secret, or if it isn't base64.
    func redactingMetadata(_ value: String) -> String {
        let pairs = value.split(separator: ",", omittingEmptySubsequences: false).map { pair in
            let words = pair.split(separator: " ")
            guard let key = words.first, words.count > 1 else { return text(String(pair)) }
            let isKept = words.count == 2 && !isSensitive(String(key)) && isPlain(base64: words[1])
            if isKept { return String(pair) }
            note(String(key))
            return "\(text(String(key))) \(placeholder)"
        }
        return pairs.joined(separator: ",")
    }

    private func isPlain(base64: Substring) -> Bool {
        guard let bytes = Data(base64Encoded: String(base64)) else { return false }
        let decoded = String(decoding: bytes, as: UTF8.self)
        return text(decoded) == decoded
    }
}
