internal import InterceptorsSyntax

/// Replaces secrets in text without a known structure: an error's description, a field's value, a string of JSON.
///
/// The users of URLs, tokens that tell by their form, such as `ghp_…`, and private keys in PEM are secrets. For people, the values of
/// sensitive names (`token=…`, `Cookie: …`, `"pin": …`) and the word after `Bearer` and its like are secrets too. For programs, the
/// text plays, so a sensitive name counts in a query alone.
///
/// One pass: the text up to `copied` is in `output`, and from there to `position` it has no secret.
struct TextRedactor {
    let redaction: Redaction
    let bytes: [UInt8]
    /// Whether more text followed, so that the end may be the beginning of a secret.
    let isCut: Bool
    let depth: Int
    private var position = 0
    private var output: [UInt8] = []
    private var copied = 0

    init(_ bytes: [UInt8], by redaction: Redaction, isCut: Bool, depth: Int) {
        (self.bytes, self.redaction, self.isCut, self.depth) = (bytes, redaction, isCut, depth)
    }

    /// The text without its secrets, or `nil` if it contains none.
    mutating func run() -> [UInt8]? {
        while position < bytes.count {
            if Self.isWord(bytes[position]) {
                redactWord()
            } else if bytes[position] == UInt8(ascii: "/") {
                redactUser()
            } else {
                position += 1
            }
        }
        return copied > 0 ? output + bytes[copied...] : nil
    }

    /// Replaces a range that ends at or before `position`.
    ///
    /// - Parameter isNoted: whether the secret within the range has been noted.
    private mutating func hide(_ range: Range<Int>, named name: ArraySlice<UInt8>? = nil, isNoted: Bool = false) {
        guard !range.isEmpty else { return }
        guard !isPlaceholder(at: range.lowerBound) else {
            // The rest of a line may hold another secret.
            return position = range.lowerBound + redaction.placeholder.utf8.count
        }
        if !isNoted { redaction.note(name.map { String(decoding: $0, as: UTF8.self) } ?? KnownSecret.note) }
        output += bytes[copied..<range.lowerBound]
        output += redaction.placeholder.utf8
        copied = range.upperBound
    }

    /// Whether the text at an index is already redacted. A longer word may be a secret that begins like a placeholder of letters.
    private func isPlaceholder(at start: Int) -> Bool {
        let placeholder = redaction.placeholder.utf8
        guard let last = placeholder.last, bytes[start...].starts(with: placeholder) else { return false }
        let end = start + placeholder.count
        return end == bytes.count || !Self.isWord(last) || !Self.isWord(bytes[end])
    }

    // MARK: Words

    private mutating func redactWord() {
        let start = position
        let end = bytes[start...].firstIndex { !Self.isWord($0) } ?? bytes.count
        let word = bytes[start..<end]
        position = end
        if KnownSecret.isToken(word, isCut: isCut && end == bytes.count) {
            hide(start..<end)
        } else if let key = KnownSecret.privateKey(in: bytes, at: start) {
            position = key.upperBound
            hide(key)
        } else if word.contains(UInt8(ascii: "%")), holdsEncodedSecret(word) {
            hide(start..<end, isNoted: true)
        } else if let sign = sign(afterWord: end) {
            redactValue(of: word, sign: sign)
        } else if !redaction.isForPrograms {
            redactArgument(of: word)
        }
    }

    private func holdsEncodedSecret(_ word: ArraySlice<UInt8>) -> Bool {
        let decoded = Array(word).percentDecoded
        guard decoded.count != word.count else { return false }
        let isCut = isCut && word.endIndex == bytes.count
        return redaction.redacted(decoded, isCut: isCut, depth: depth + 1) != nil
    }

    private mutating func redactValue(of word: ArraySlice<UInt8>, sign: Int) {
        let isForm = bytes[sign] == UInt8(ascii: "=")
        if redaction.isForPrograms {
            guard sign == word.endIndex, isForm, isInQuery(word.startIndex) else { return }
        }
        let name = word.contains(UInt8(ascii: "%")) ? Array(word).percentDecodedFully[...] : word
        guard redaction.isSensitive(name) else { return }
        let mayHaveSpaces = !isForm && isStartOfLine(word.startIndex) || Self.namesOfPhrases.isSensitive(name)
        let value =
            redaction.isForPrograms
            ? queryValue(from: sign + 1)
            : valueRange(from: afterSign(sign), isForm: isForm, mayHaveSpaces: mayHaveSpaces)
        guard !Self.isHarmless(bytes[value], name: name, isCut: isCut && value.upperBound == bytes.count) else {
            return
        }
        position = value.upperBound
        hide(value, named: name)
    }

    /// The word after an authentication scheme, or the arguments in `badPassword("…")`.
    private mutating func redactArgument(of word: ArraySlice<UInt8>) {
        let end = word.endIndex
        if Self.isScheme(word) {
            let start = skippingSpaces(from: end)
            guard start > end else { return }
            let value = start..<(bytes[start...].firstIndex { !Self.isToken68($0) } ?? bytes.count)
            let isCut = isCut && value.upperBound == bytes.count
            // "Basic settings", and the parameters of a challenge, aren't credentials.
            let isParameter =
                value.upperBound < bytes.count - 1 && bytes[value.upperBound] == UInt8(ascii: "=")
                && bytes[value.upperBound + 1] > 0x20 && bytes[value.upperBound + 1] != UInt8(ascii: "=")
            guard isCut || !Self.isProse(bytes[value]), !isParameter else { return }
            position = bytes[value.upperBound...].firstIndex { $0 != UInt8(ascii: "=") } ?? bytes.count
            hide(start..<position)
        } else if end + 1 < bytes.count, bytes[end] == UInt8(ascii: "("), "\"\\".utf8.contains(bytes[end + 1]),
            redaction.isSensitive(word)
        {
            position = endOfNested(from: end)
            let isClosed = position - 1 > end && bytes[position - 1] == UInt8(ascii: ")")
            hide((end + 1)..<(isClosed ? position - 1 : position))
        }
    }

    /// Hides the user and password of a URL.
    private mutating func redactUser() {
        guard bytes[position...].starts(with: "//".utf8) else { return position += 1 }
        let start = position + 2
        let end = bytes[start...].firstIndex { $0 <= 0x20 || "/?#\"'<>\\".utf8.contains($0) } ?? bytes.count
        position = start
        if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) {
            position = at
            if !isMereName(start..<at) { hide(start..<at) }
        } else if isCut, end == bytes.count, start < end {
            // The cut may have removed the `@` after a user, who may be a token.
            position = end
            hide(start..<end)
        }
    }

    /// Whether a URL's user is kept in a recording: a name as in `ssh://git@a.example`. Over HTTP, a user alone may be a token.
    private func isMereName(_ user: Range<Int>) -> Bool {
        guard redaction.isForPrograms, !bytes[user].contains(UInt8(ascii: ":")) else { return false }
        let scheme = String(decoding: bytes[..<(user.lowerBound - 2)].suffix(6), as: UTF8.self).lowercased()
        return scheme.hasSuffix(":") && !scheme.hasSuffix("http:") && !scheme.hasSuffix("https:")
    }

    // MARK: Values

    /// Whether a word names a parameter of a query, a form or a fragment.
    private func isInQuery(_ start: Int) -> Bool {
        guard start > 0 else { return true }
        switch bytes[start - 1] {
        case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"): return true
        // In markup, `&amp;` stands for the `&`.
        case UInt8(ascii: ";"): return start >= 5 && bytes[(start - 5)..<start].elementsEqual("&amp;".utf8)
        default: return false
        }
    }

    /// The value of a parameter in a URL, which markup or a script may contain.
    private func queryValue(from start: Int) -> Range<Int> {
        start..<(bytes[start...].firstIndex { $0 <= 0x20 || "&\"'<>\\)],;`".utf8.contains($0) } ?? bytes.count)
    }

    /// The index after a `:`, a `=` or a combination such as `=>`.
    private func afterSign(_ sign: Int) -> Int {
        skippingSpaces(from: bytes[sign...].firstIndex { !":=>".utf8.contains($0) } ?? bytes.count)
    }

    /// The `:` or `=` that makes a word a name. A closing quote, or the bracket of `["token"]`, may come between the two.
    private func sign(afterWord end: Int) -> Int? {
        var index = bytes[end...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
        if index < bytes.count, "\"'".utf8.contains(bytes[index]) {
            index = skippingSpaces(from: index + 1)
            if index < bytes.count, ")]".utf8.contains(bytes[index]) { index += 1 }
        }
        index = skippingSpaces(from: index)
        guard index < bytes.count, ":=".utf8.contains(bytes[index]) else { return nil }
        return bytes[index...].starts(with: "://".utf8) ? nil : index
    }

    /// A quoted text without its quotes, nested text in brackets, a line or a word.
    private func valueRange(from start: Int, isForm: Bool, mayHaveSpaces: Bool) -> Range<Int> {
        let quote = bytes[start...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
        guard quote < bytes.count else { return start..<bytes.count }
        switch bytes[quote] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return (quote + 1)..<(endOfString(at: quote, backslashes: quote - start) ?? bytes.count)
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): return start..<endOfNested(from: quote)
        case UInt8(ascii: "<") where !isPlaceholder(at: quote):
            return (quote + 1)..<(bytes[quote...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.count)
        default: break
        }
        var end = start
        while end < bytes.count {
            switch bytes[end] {
            case 0x0A, 0x0D: return start..<end
            // A string with a prefix, such as Python's `b'…'`.
            case UInt8(ascii: "\"") where 1...2 ~= end - start, UInt8(ascii: "'") where 1...2 ~= end - start:
                return (end + 1)..<(endOfString(at: end, backslashes: 0) ?? bytes.count)
            case UInt8(ascii: "&") where isForm: return start..<end
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): end = endOfNested(from: end)
            case let byte where !mayHaveSpaces && (byte <= 0x20 || ",;<>\"')]}|\\&".utf8.contains(byte)):
                return start..<end
            default: end += 1
            }
        }
        return start..<end
    }

    /// The index of the closing quote or of the backslashes before it. In JSON nested in JSON strings, 1, 3, 7 … backslashes
    /// precede each quote.
    private func endOfString(at start: Int, backslashes: Int) -> Int? {
        var run = 0
        for index in bytes.indices[(start + 1)...] {
            if bytes[index] == UInt8(ascii: "\\") {
                run += 1
            } else {
                if bytes[index] == bytes[start], run % (2 * (backslashes + 1)) == backslashes {
                    return index - backslashes
                }
                run = 0
            }
        }
        return nil
    }

    /// The index after the bracket that closes the one at `start`; brackets in strings don't count.
    private func endOfNested(from start: Int) -> Int {
        var (index, nesting) = (start, 0)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): index = endOfString(at: index, backslashes: 0) ?? bytes.count
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): nesting += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                nesting -= 1
                if nesting == 0 { return index + 1 }
            default: break
            }
            index += 1
        }
        return bytes.count
    }

    private func skippingSpaces(from start: Int) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? bytes.count
    }

    private func isStartOfLine(_ index: Int) -> Bool {
        let before = bytes[..<index].last { $0 != 0x20 && $0 != 0x09 }
        return before == nil || before == 0x0A || before == 0x0D
    }
}

extension TextRedactor {
    /// Names whose secret values may contain spaces.
    private static let namesOfPhrases = Redaction(
        sensitiveParts: ["pass", "pwd", "secret", "cookie", "authorization", "credential"],
        sensitiveNames: []
    )

    /// Whether a value under a sensitive name tells nothing: `true`, `false`, `null`, and under `code` an error's number or name.
    ///
    /// A number of up to three digits or below zero is no one-time code. Nor is `TOKEN_EXPIRED`: words in one case, joined by
    /// underscores.
    static func isHarmless(_ value: ArraySlice<UInt8>, name: ArraySlice<UInt8>, isCut: Bool) -> Bool {
        if isCut { return false }
        if ["true", "false", "null"].contains(where: { value.elementsEqual($0.utf8) }) { return true }
        guard name.map(ASCII.lowercased).elementsEqual("code".utf8) else { return false }
        let digits = value.drop { $0 == UInt8(ascii: "-") }
        if !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) { return digits.count <= 3 || digits.count < value.count }
        let words = value.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        return words.count > 1 && words.allSatisfy { $0.count > 1 }
            && [UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z")].contains { letters in
                words.allSatisfy { $0.allSatisfy(letters.contains) }
            }
    }

    @inline(__always)
    private static func isWord(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        if letter &- 0x61 < 26 || byte &- 0x30 < 10 || byte >= 0x80 { return true }
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "+"),
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "$"):
            return true
        default: return false
        }
    }

    private static func isToken68(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || "-._~+/".utf8.contains(byte)
    }

    private static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
        guard 4...9 ~= word.count else { return false }
        let scheme = word.map(ASCII.lowercased)
        return ["bearer", "basic", "dpop", "negotiate", "ntlm"].contains { scheme.elementsEqual($0.utf8) }
    }

    private static func isProse(_ word: ArraySlice<UInt8>) -> Bool {
        word.count < 16 && word.dropFirst().allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == 0x2E }
    }
}
