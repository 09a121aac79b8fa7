/// Lists of tokens, such as the values of `Vary` and `Connection` (RFC 9110 §5.6.1).
package enum TokenList {
    /// The members in lower case, without the empty ones; `nil` if a member is no token.
    package static func parse(_ text: String) -> [String]? {
        var members: [String] = []
        for part in text.utf8.split(separator: UInt8(ascii: ",")) {
            var cursor = FieldCursor(Array(part)[...])
            cursor.skipWhitespace()
            if cursor.isAtEnd { continue }
            let token = cursor.takeLowercasedToken()
            cursor.skipWhitespace()
            guard !token.isEmpty, cursor.isAtEnd else { return nil }
            members.append(token)
        }
        return members
    }

    /// The first word of each member in lower case, without the empty ones, whatever follows it.
    package static func firstWords(in text: String) -> [String] {
        text.split(separator: ",").map { member in
            member.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }.lowercased()
        }
        .filter { !$0.isEmpty }
    }
}
