internal import InterceptorsSyntax

/// Secrets that tell by their form, whatever their name is.
enum KnownSecret {
    /// Names such a secret, and the user of a URL, where replaced values are listed by name.
    static let note = "a token or a user"

    /// The beginnings of tokens that services mark: GitHub, GitLab, Stripe, Slack and AWS.
    private static let beginnings: [StaticString] = [
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk_live_", "sk_test_", "rk_live_", "rk_test_",
        "xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "AKIA", "ASIA",
    ]

    /// Whether a marked token or a JSON Web Token begins in a word.
    ///
    /// - Parameter isCut: whether the rest of the word may be missing.
    static func isToken<Word>(_ word: Word, isCut: Bool) -> Bool
    where Word: RandomAccessCollection<UInt8>, Word.Index == Int {
        guard isCut || word.count >= 16 else { return false }
        // A JSON Web Token has at least two dots. A cursor in Base64 begins so too, but has none.
        var (dots, endOfWebTokens) = (0, isCut ? word.endIndex : word.startIndex)
        for index in word.indices.reversed() where word[index] == UInt8(ascii: ".") && dots < 2 {
            dots += 1
            if dots == 2 { endOfWebTokens = max(endOfWebTokens, index) }
        }
        for start in word.indices {
            switch word[start] {
            case UInt8(ascii: "g"), UInt8(ascii: "s"), UInt8(ascii: "r"), UInt8(ascii: "x"), UInt8(ascii: "A"),
                UInt8(ascii: "e"):
                break
            default: continue
            }
            guard start == word.startIndex || !ASCII.isAlphanumeric(word[start - 1]) else { continue }
            let rest = word[start...]
            // `eyJ` is Base64 for `{"`.
            if start < endOfWebTokens, rest.starts(with: "eyJ".utf8) { return true }
            guard isCut || rest.count >= 16 else { return false }
            if beginnings.contains(where: { $0.withUTF8Buffer { rest.starts(with: $0) } }) { return true }
        }
        return false
    }

    /// The content between the two boundaries of a private key in PEM (RFC 7468). Without a closing boundary, the rest of the text.
    static func privateKey(in bytes: [UInt8], at start: Int) -> Range<Int>? {
        guard bytes[start...].starts(with: "-----BEGIN".utf8) else { return nil }
        let label = bytes[(start + 10)...].prefix(64).prefix { $0 != UInt8(ascii: "-") }
        guard let key = label.firstRange(of: "PRIVATE".utf8) else { return nil }
        let content = bytes[key.upperBound...].drop { $0 != UInt8(ascii: "-") }.drop { $0 == UInt8(ascii: "-") }
            .startIndex
        return content..<(bytes[content...].firstRange(of: "-----END".utf8)?.lowerBound ?? bytes.count)
    }
}
