internal import Foundation
internal import InterceptorsSyntax

extension TextRedactor {
    // MARK: Values of sensitive names

    /// Whether a value can't be a secret: a JSON literal, or a short number under `code`.
    func isHarmless(at start: Int, name: ArraySlice<UInt8>) -> Bool {
        let value = bytes[start...].prefix { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        let end = bytes.skippingSpaces(from: value.endIndex)
        guard end < bytes.count || !isCut else { return false }
        let isComplete = end == bytes.count || end > value.endIndex || ",;.}])&\"'<\r\n".utf8.contains(bytes[end])
        guard isComplete else { return false }
        if Self.isOneOf(["true", "false", "null"], value) { return true }
        let digits = value.drop { $0 == UInt8(ascii: "-") }
        return Self.isOneOf(["code"], name) && !digits.isEmpty && (digits.count <= 3 || digits.count < value.count)
            && digits.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// Whether the value is a JSON string under `code` that names an error, such as `TOKEN_EXPIRED`: words in one case, joined by
    /// underscores. A random code, such as OAuth's, nearly never looks like that. A single word does, so it is hidden.
    func isErrorName(at start: Int, name: ArraySlice<UInt8>) -> Bool {
        guard Self.isOneOf(["code"], name), bytes[start] == UInt8(ascii: "\""),
            let end = bytes.endOfString(from: start, quote: UInt8(ascii: "\""), backslashes: 0)
        else { return false }
        let next = bytes.skippingWhitespace(from: end)
        guard next == bytes.count || ",}]".utf8.contains(bytes[next]) else { return false }
        let words = bytes[(start + 1)..<(end - 1)].split(
            separator: UInt8(ascii: "_"),
            omittingEmptySubsequences: false
        )
        let (lowercase, uppercase) = (UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"))
        return words.count > 1 && words.allSatisfy { $0.count > 1 } && words.joined().count >= 6
            && (words.joined().allSatisfy(lowercase.contains) || words.joined().allSatisfy(uppercase.contains))
    }

    /// Whether the text at an index is already redacted.
    func isPlaceholder(at start: Int) -> Bool {
        let placeholder = redaction.placeholder.utf8
        // Every text begins with an empty placeholder. A longer word may be a secret that begins like a placeholder of letters.
        guard let last = placeholder.last, bytes[start...].starts(with: placeholder) else { return false }
        let end = start + placeholder.count
        return end == bytes.count || !Self.isWord(last) || !Self.isWord(bytes[end]) && !Self.isToken68(bytes[end])
    }

    /// Names whose secret values may contain spaces.
    static let valuesWithSpaces = Redaction(
        sensitiveParts: ["pass", "pwd", "secret", "cookie", "authorization", "credential"],
        sensitiveNames: []
    )

    /// Skips to the `,`, `}` or `]` after the value, ignoring those inside strings.
    mutating func skipJSONValue() {
        let start = position
        var nesting = 0
        scan: while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position = bytes.endOfString(from: position, quote: UInt8(ascii: "\""), backslashes: 0) ?? bytes.count
                continue scan
            case UInt8(ascii: "{"), UInt8(ascii: "["): nesting += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if nesting == 0 { break scan }
                nesting -= 1
            case UInt8(ascii: ",") where nesting == 0: break scan
            default: break
            }
            position += 1
        }
        while position > start, bytes[position - 1] <= 0x20 { position -= 1 }
    }

    /// The range of a value: quoted text, text in brackets, a private key, a line or a word.
    ///
    /// - Parameters:
    ///   - isLine: whether the value extends to the end of its line.
    ///   - isForm: whether `&` ends the value.
    ///   - indent: the indentation of the name's line. More deeply indented lines below continue the value.
    func textValue(isLine: Bool, isForm: Bool, indent: Int?) -> Range<Int> {
        var start = position
        if let length = bytes.lengthOfQuoteEntity(at: start) {
            let content = start + length
            return content..<(bytes[content...].firstRange(of: bytes[start..<content])?.lowerBound ?? bytes.count)
        }
        start = bytes.quoteBehindPrefix(from: start) ?? start
        let quote = bytes.skippingBackslashes(from: start)
        guard quote < bytes.count else { return position..<bytes.count }
        switch bytes[quote] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return quotedValue(at: quote, backslashes: quote - start)
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): return position..<endOfNested(at: quote)
        default:
            if let key = privateKey(at: quote) {
                return key.lowerBound..<max(key.upperBound, endOfWords(isForm: isForm))
            }
            return position..<(isLine ? endOfLine(isForm: isForm, indent: indent) : endOfWords(isForm: isForm))
        }
    }

    /// The text between quotes or triple quotes, including any text attached to the closing quote.
    private func quotedValue(at quote: Int, backslashes: Int) -> Range<Int> {
        let three = [UInt8](repeating: bytes[quote], count: 3)
        if backslashes == 0, bytes[quote...].starts(with: three) {
            return (quote + 3)..<(bytes[(quote + 3)...].firstRange(of: three)?.lowerBound ?? bytes.count)
        }
        var end = bytes.endOfString(from: quote, quote: bytes[quote], backslashes: backslashes)
        // SQL doubles a quote inside a string; a shell closes and reopens the string around an escaped quote.
        while backslashes == 0, let closed = end, closed < bytes.count, isContinued(at: closed, quote: bytes[quote]) {
            let next = bytes[closed...].firstIndex(of: bytes[quote]) ?? bytes.count
            end = next < bytes.count ? bytes.endOfString(from: next, quote: bytes[quote], backslashes: 0) : nil
        }
        return (quote + 1)..<(end.map { $0 - backslashes - 1 } ?? bytes.count)
    }

    private func isContinued(at index: Int, quote: UInt8) -> Bool {
        bytes[index] == quote || bytes[index...].starts(with: [UInt8(ascii: "\\"), quote])
    }

    /// The end of a line's value. If the value begins below its name, the end of the next line. Includes more deeply indented
    /// lines.
    private func endOfLine(isForm: Bool, indent: Int?) -> Int {
        let line = endOfLine(from: position, isForm: isForm)
        let isBelow = bytes[position..<line].allSatisfy { $0 <= 0x20 || "|>-+0123456789".utf8.contains($0) }
        guard line < bytes.count, bytes[line] != UInt8(ascii: "&") else { return line }
        var end = line
        if isBelow { end = endOfLine(from: bytes.skippingWhitespace(from: line), isForm: isForm) }
        guard let indent else { return end }
        while end < bytes.count {
            let next = bytes[end...].firstIndex { $0 != 0x0A && $0 != 0x0D } ?? bytes.count
            let first = bytes.skippingSpaces(from: next)
            guard first - next > indent, first < bytes.count, bytes[first] > 0x20 else { return end }
            end = endOfLine(from: first, isForm: isForm)
        }
        return end
    }

    private func endOfLine(from start: Int, isForm: Bool) -> Int {
        bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D || isForm && $0 == UInt8(ascii: "&") } ?? bytes.count
    }

    /// The indentation of the byte at an index within its line, counting a YAML item's dash as indentation.
    func indent(ofLineAt index: Int) -> Int {
        index - (bytes[..<index].lastIndex { $0 == 0x0A || $0 == 0x0D }.map { $0 + 1 } ?? 0)
    }

    /// The end of a word, including parentheses after it, or of two words if the first names an authentication scheme.
    private func endOfWords(isForm: Bool) -> Int {
        var end = position
        while end < bytes.count, !Self.endsBareValue(bytes[end]) {
            if bytes[end] == UInt8(ascii: "(") {
                end = endOfNested(at: end)
            } else if bytes[end] == 0x20 || bytes[end] == 0x09 {
                let next = bytes.skippingSpaces(from: end)
                // PHP prints a value as `string(4) "…"`.
                if bytes[end - 1] == UInt8(ascii: ")"), next < bytes.count, bytes[next] == UInt8(ascii: "\"") {
                    return bytes.endOfString(from: next, quote: bytes[next], backslashes: 0) ?? bytes.count
                }
                guard Self.isScheme(bytes[position..<end]) else { return end }
                end =
                    bytes[bytes.skippingSpaces(from: end)...].firstIndex { Self.endsBareValue($0) || $0 <= 0x20 }
                    ?? bytes.count
                return end
            } else {
                end += 1
            }
        }
        return end
    }

    /// The range between the parentheses after a word, if a quoted text comes first. Swift prints an enum case's value this
    /// way: `badPassword("…")`.
    func quotedArguments(at open: Int) -> Range<Int>? {
        let quote = bytes[(open + 1)...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
        guard quote < bytes.count, bytes[quote] == UInt8(ascii: "\"") else { return nil }
        let end = endOfNested(at: open)
        return (open + 1)..<(bytes[end - 1] == UInt8(ascii: ")") ? end - 1 : end)
    }

    private func endOfNested(at open: Int) -> Int {
        var nesting = 0
        var index = open
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = (bytes.endOfString(from: index, quote: UInt8(ascii: "\""), backslashes: 0) ?? bytes.count) - 1
            case UInt8(ascii: "'") where Self.opensText(after: bytes[index - 1]):
                index = (bytes.endOfString(from: index, quote: UInt8(ascii: "'"), backslashes: 0) ?? index + 1) - 1
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): nesting += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"): nesting -= 1
            default: break
            }
            index += 1
            if nesting == 0 { return index }
        }
        return bytes.count
    }

    mutating func skipLine() {
        position =
            bytes[position...].firstIndex { $0 == 0x0A || $0 == 0x0D || $0 == UInt8(ascii: "&") } ?? bytes.count
    }

    // MARK: Looking back

    private static func opensText(after byte: UInt8) -> Bool {
        byte <= 0x20 || "([{,:=bBuUrRfF".utf8.contains(byte)
    }

    func isStartOfLine(_ index: Int) -> Bool {
        let before = bytes[..<index].last { $0 != 0x20 && $0 != 0x09 }
        return before == nil || before == 0x0A || before == 0x0D
    }

    // MARK: Kinds of bytes and words

    @inline(__always)
    static func isWord(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        if letter &- 0x61 < 26 || byte &- 0x30 < 10 || byte >= 0x80 { return true }
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "+"),
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "$"):
            return true
        default: return false
        }
    }

    /// Whether the byte is a `:` or `=`, or may precede one.
    static func mayPrecedeSign(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "&"),
            UInt8(ascii: ":"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    static func isElementName(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte >= 0x80 || ":_-.".utf8.contains(byte)
    }

    static func isToken68(_ byte: UInt8) -> Bool { ASCII.isAlphanumeric(byte) || "-._~+/".utf8.contains(byte) }

    static func endsValue(_ byte: UInt8) -> Bool { byte <= 0x20 || "&\"'<>".utf8.contains(byte) }

    static func endsAuthority(_ byte: UInt8) -> Bool { byte <= 0x20 || "/?#\"'<>\\".utf8.contains(byte) }

    /// Whether a JSON Web Token begins in the word. `eyJ` is Base64 for `{"`.
    static func holdsToken(_ word: ArraySlice<UInt8>) -> Bool {
        for start in word.indices.dropLast(9) where word[start] == UInt8(ascii: "e") {
            guard start == word.startIndex || !ASCII.isAlphanumeric(word[start - 1]) else { continue }
            if word[start...].starts(with: "eyJ".utf8) { return true }
        }
        return false
    }

    static func endsBareValue(_ byte: UInt8) -> Bool {
        byte == 0x0A || byte == 0x0D || "&,;<>\"')]}|\\".utf8.contains(byte)
    }

    static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
        guard 4...9 ~= word.count, let first = word.first else { return false }
        switch first | 0x20 {
        case UInt8(ascii: "b"): return isOneOf(["bearer", "basic"], word)
        case UInt8(ascii: "d"): return isOneOf(["digest", "dpop"], word)
        case UInt8(ascii: "n"): return isOneOf(["negotiate", "ntlm"], word)
        default: return false
        }
    }

    /// Whether the word belongs to a sentence, such as "settings" after "Basic", rather than being credentials.
    static func isProse(_ word: ArraySlice<UInt8>) -> Bool {
        word.count < 16 && word.dropFirst().allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == 0x2E }
    }

    /// Whether the word may be the name of a challenge's parameter, such as `error_description`. A token may end with a `=` too, but
    /// has capitals, digits or more letters.
    static func isParameterName(_ word: ArraySlice<UInt8>) -> Bool {
        word.count <= 24 && word.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || "_-".utf8.contains($0) }
    }

    static func isOneOf(_ words: [StaticString], _ word: ArraySlice<UInt8>) -> Bool {
        words.contains { other in
            other.utf8CodeUnitCount == word.count
                && other.withUTF8Buffer { letters in
                    letters.indices.allSatisfy { letters[$0] == ASCII.lowercased(word[word.startIndex + $0]) }
                }
        }
    }

    // MARK: Escapes of JSON

    /// The content of a JSON string without escapes. An unknown escape becomes its second byte.
    static func unescaped(_ quoted: ArraySlice<UInt8>) -> [UInt8] {
        guard quoted.contains(UInt8(ascii: "\\")) else { return Array(quoted) }
        return quoted.withUnsafeBytes { JSONEscapes.decoded($0, isLenient: true) } ?? Array(quoted)
    }

    static func escaped(_ text: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.count)
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): escaped += [UInt8(ascii: "\\"), byte]
            case 0x0A: escaped += Array("\\n".utf8)
            case 0x0D: escaped += Array("\\r".utf8)
            case 0x09: escaped += Array("\\t".utf8)
            case 0..<0x20:
                escaped += Array((byte < 0x10 ? "\\u000" : "\\u00").utf8) + Array(String(byte, radix: 16).utf8)
            default: escaped.append(byte)
            }
        }
        return escaped
    }
}
