internal import Foundation

extension Redaction {
    /// Any text as it may be printed: an error's description, a field's value, a log line.
    ///
    /// Without knowing a format it finds what is usually a secret, and would rather redact too much than too little:
    /// - what follows a sensitive name and `=` or `:`, quoted, bracketed or bare, also percent-encoded;
    /// - the content and the attributes of an XML or HTML element of a sensitive name;
    /// - user and password in a URL, a bearer or basic credential, a JSON Web Token.
    public func text(_ text: String) -> String {
        redactingText(text.utf8).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// The same over bytes, those between the quotes of a JSON string if need be; `nil` where nothing had to be redacted.
    func redactingText(_ bytes: some Collection<UInt8>, isJSON: Bool = false) -> [UInt8]? {
        guard Self.isSuspect(bytes) else { return nil }
        var redactor = TextRedactor(Array(bytes), isJSON: isJSON, redaction: self)
        return redactor.run() ? redactor.output : nil
    }

    /// Whether there is anything that a name with a value, an element, a credential or a web token can't be without.
    private static func isSuspect(_ bytes: some Collection<UInt8>) -> Bool {
        var previous: UInt8 = 0
        return bytes.contains { byte in
            defer { previous = byte }
            return switch byte {
            case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "%"), UInt8(ascii: "<"): true
            case UInt8(ascii: "J"): previous == UInt8(ascii: "y")
            case 0x20: previous | 0x20 == UInt8(ascii: "r") || previous | 0x20 == UInt8(ascii: "c")
            default: false
            }
        }
    }

    /// Numbers such as 404 or -1001 under `code` say what went wrong: no secret code is so short, or negative.
    static func isHarmless(_ value: ArraySlice<UInt8>, under name: String) -> Bool {
        guard ASCII.equalIgnoringCase(name, "code") else { return false }
        let digits = value.first == UInt8(ascii: "-") ? value.dropFirst() : value
        guard !digits.isEmpty, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return false }
        return digits.count <= 3 || digits.count < value.count
    }
}

/// Copies text but for what looks like a secret, in time proportional to the length.
private struct TextRedactor {
    private let bytes: [UInt8]
    private let redaction: Redaction
    private let isJSON: Bool
    private let placeholder: [UInt8]
    private var position = 0
    private var hasRedacted = false
    private(set) var output: [UInt8] = []

    init(_ bytes: [UInt8], isJSON: Bool, redaction: Redaction) {
        self.bytes = bytes
        self.isJSON = isJSON
        self.redaction = redaction
        placeholder = Array(redaction.placeholder.utf8)
    }

    /// Whether anything was redacted.
    mutating func run() -> Bool {
        output.reserveCapacity(bytes.count + placeholder.count)
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "<"): copyTag()
            case UInt8(ascii: "/"): copyAuthority()
            case let byte where isNameByte(at: position, byte): copyWord()
            case UInt8(ascii: "%") where decoded(at: position) != nil: copy(through: position + 3)
            // An escape such as `\n` before a name is no part of it.
            case UInt8(ascii: "\\") where isJSON && position + 1 < bytes.count: copy(through: position + 2)
            default: copy(through: position + 1)
            }
        }
        return hasRedacted
    }

    private mutating func copy(through end: Int) {
        output += bytes[position..<end]
        position = end
    }

    private mutating func redact(through end: Int) {
        hasRedacted = true
        output += placeholder
        position = end
    }

    private func isNext(_ text: [UInt8], at position: Int) -> Bool {
        position + text.count <= bytes.count && bytes[position..<(position + text.count)].elementsEqual(text)
    }

    private func end(from start: Int, where isEnd: (UInt8) -> Bool) -> Int {
        bytes[min(start, bytes.count)...].firstIndex(where: isEnd) ?? bytes.count
    }
}

// MARK: Names and their values

extension TextRedactor {
    private mutating func copyWord() {
        let start = position
        var end = start
        while end < bytes.count, isNameByte(at: end, bytes[end]) { end += bytes[end] == UInt8(ascii: "%") ? 3 : 1 }
        let word = bytes[start..<end]
        if isWebToken(word) { return redact(through: end) }
        guard let (value, separator) = startOfValue(after: end) else {
            copy(through: end)
            if isScheme(word) { redactCredential() }
            return
        }
        guard let name = sensitiveName(word) else { return copy(through: end) }
        copy(through: value)
        let isLine = separator == .colon && (Self.valuesWithSpaces.isSensitive(name) || isStartOfLine(start))
        redactValue(of: name, isLine: isLine, isEncoded: separator == .encoded)
    }

    private func sensitiveName(_ word: ArraySlice<UInt8>) -> String? {
        let raw = String(decoding: word, as: UTF8.self)
        let name = word.contains(UInt8(ascii: "%")) ? raw.removingPercentEncoding ?? raw : raw
        return redaction.isSensitive(name) ? name : nil
    }

    /// After a colon a value may be a whole line; after an encoded one it ends at an encoded `&`.
    private enum Separator { case equals, colon, encoded }

    /// Where the value begins, if a separator follows: after quotes, brackets and space, `=`, `:` or their encoded forms.
    private func startOfValue(after end: Int) -> (position: Int, separator: Separator)? {
        var position = end
        while position < bytes.count {
            let isEncoded = bytes[position] == UInt8(ascii: "%")
            let byte = isEncoded ? decoded(at: position) ?? bytes[position] : bytes[position]
            position += isEncoded ? 3 : 1
            if byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":") {
                position = self.end(from: position) { !Self.mayFollowSeparator($0) }
                return (position, isEncoded ? .encoded : byte == UInt8(ascii: ":") ? .colon : .equals)
            }
            guard Self.mayStandBeforeSeparator(byte) else { return nil }
        }
        return nil
    }

    /// Cookies and credentials have several words even within a line.
    private static let valuesWithSpaces = Redaction(sensitiveParts: ["cookie", "authorization"], sensitiveNames: [])

    private mutating func redactValue(of name: String, isLine: Bool, isEncoded: Bool) {
        guard position < bytes.count, !isNext(placeholder, at: position) else { return }
        var escapes = position
        while escapes < bytes.count, bytes[escapes] == UInt8(ascii: "\\") { escapes += 1 }
        guard escapes < bytes.count else { return redact(through: bytes.count) }
        switch bytes[escapes] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            let closing = closingQuote(at: escapes, escapes: escapes - position)
            copy(through: escapes + 1)
            redact(through: closing)
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("):
            redact(through: endOfNested(at: escapes))
        default:
            let end = isLine ? end(from: position, where: Self.endsLine) : endOfBareValue(isEncoded: isEncoded)
            if Redaction.isHarmless(bytes[position..<end], under: name) {
                copy(through: end)
            } else if end > position {
                redact(through: end)
            }
        }
    }

    /// The position of the closing quote, its backslashes included; as many stand before it as before the opening one.
    private func closingQuote(at open: Int, escapes: Int) -> Int {
        var run = 0
        var position = open + 1
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\\") {
                run += 1
            } else if bytes[position] == bytes[open], escapes == 0 ? run.isMultiple(of: 2) : run <= escapes {
                return position - min(run, escapes)
            } else {
                run = 0
            }
            position += 1
        }
        return bytes.count
    }

    private func endOfNested(at open: Int) -> Int {
        var depth = 0
        var position = open
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): position = min(closingQuote(at: position, escapes: 0), bytes.count - 1)
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"): depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { return position }
        }
        return bytes.count
    }

    private func endOfBareValue(isEncoded: Bool) -> Int {
        let end = endOfBareWord(from: position, isEncoded: isEncoded)
        guard end < bytes.count, bytes[end] == 0x20, isScheme(bytes[position..<end]) else { return end }
        return endOfBareWord(from: end + 1, isEncoded: isEncoded)
    }

    private func endOfBareWord(from start: Int, isEncoded: Bool) -> Int {
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case 0...0x20, UInt8(ascii: "&"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "<"),
                UInt8(ascii: ">"),
                UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"),
                UInt8(ascii: "|"), UInt8(ascii: "\\"):
                return position
            case UInt8(ascii: "%") where isEncoded && isNext(Array("%26".utf8), at: position): return position
            case UInt8(ascii: "("): return endOfNested(at: position)
            default: position += 1
            }
        }
        return position
    }
}

// MARK: Credentials

extension TextRedactor {
    private func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
        switch word.count {
        case 5: ASCII.equalIgnoringCase(String(decoding: word, as: UTF8.self), "basic")
        case 6: ASCII.equalIgnoringCase(String(decoding: word, as: UTF8.self), "bearer")
        default: false
        }
    }

    /// After `Bearer` or `Basic`: a word that is long and has a digit is a credential, "Basic settings" has none.
    private mutating func redactCredential() {
        let start = end(from: position) { $0 != 0x20 }
        let end = end(from: start) { !ASCII.isToken($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") }
        let word = bytes[start..<end]
        guard start > position, word.count >= 8, word.contains(where: { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return }
        copy(through: start)
        redact(through: end)
    }

    /// A JSON Web Token (RFC 7519): `{"` in base64url, and points.
    private func isWebToken(_ word: ArraySlice<UInt8>) -> Bool {
        word.count >= 20 && word.starts(with: Array("eyJ".utf8)) && word.contains(UInt8(ascii: "."))
    }

    private mutating func copyAuthority() {
        guard isNext(Array("//".utf8), at: position) else { return copy(through: position + 1) }
        copy(through: position + 2)
        let end = end(from: position) { byte in
            switch byte {
            case 0...0x20, UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""),
                UInt8(ascii: "<"),
                UInt8(ascii: ">"):
                true
            default: false
            }
        }
        if let at = bytes[position..<end].lastIndex(of: UInt8(ascii: "@")) { redact(through: at) }
    }
}

// MARK: Elements

extension TextRedactor {
    /// A tag of XML or HTML. The attributes of others are copied by the main loop, as names with values.
    private mutating func copyTag() {
        let nameStart = position + 1
        let nameEnd = end(from: nameStart) { !Self.isNameByte($0) && $0 != UInt8(ascii: ":") }
        guard nameEnd > nameStart else { return copy(through: nameStart) }
        let name = bytes[nameStart..<nameEnd]
        let local = name.suffix(from: (name.lastIndex(of: UInt8(ascii: ":")) ?? nameStart - 1) + 1)
        // A `<` within a tag is no XML; to look beyond it from each would take quadratic time.
        let close = end(from: nameEnd) { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
        let isSecret = isSecretElement(local) && !isNext(placeholder, at: position)
        guard isSecret || namesSecret(bytes[nameEnd..<close]) else { return copy(through: nameStart) }
        copy(through: nameEnd)
        if close > nameEnd {
            output.append(0x20)
            redact(through: close)
        }
        guard isSecret, close < bytes.count, bytes[close] == UInt8(ascii: ">"), bytes[close - 1] != UInt8(ascii: "/")
        else { return }
        copy(through: close + 1)
        redact(through: endOfElement(Array(name)))
    }

    private func endOfElement(_ name: [UInt8]) -> Int {
        let closing = Array("</".utf8) + name
        var position = position
        while position < bytes.count {
            position = end(from: position) { $0 == UInt8(ascii: "<") }
            if isNext(closing, at: position) { return position }
            position += 1
        }
        return bytes.count
    }

    /// In XML a code is that of an error, and a key names an object.
    private func isSecretElement(_ name: ArraySlice<UInt8>) -> Bool {
        guard let name = sensitiveName(name) else { return false }
        return !ASCII.equalIgnoringCase(name, "code") && !ASCII.equalIgnoringCase(name, "key")
    }

    /// Whether attributes such as `name="csrf_token" value="…"` say that one of them is a secret.
    private func namesSecret(_ attributes: ArraySlice<UInt8>) -> Bool {
        let words = attributes.split { !Self.isNameByte($0) }
        return words.contains { $0.elementsEqual(Array("value".utf8)) || $0.elementsEqual(Array("content".utf8)) }
            && words.contains { sensitiveName($0) != nil }
    }
}

// MARK: Bytes

extension TextRedactor {
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...,
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "$"):
            true
        default: false
        }
    }

    /// A percent-encoded byte belongs to a name too if, decoded, it does.
    private func isNameByte(at position: Int, _ byte: UInt8) -> Bool {
        guard byte == UInt8(ascii: "%") else { return Self.isNameByte(byte) }
        return decoded(at: position).map(Self.isNameByte) ?? false
    }

    private func decoded(at position: Int) -> UInt8? {
        guard position + 2 < bytes.count else { return nil }
        return UInt8(String(decoding: bytes[(position + 1)...(position + 2)], as: UTF8.self), radix: 16)
    }

    private func isStartOfLine(_ position: Int) -> Bool {
        let before = bytes[..<position].last { $0 != 0x20 && $0 != 0x09 }
        return before == nil || before == 0x0A || before == 0x0D
    }

    private static func endsLine(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D || byte == UInt8(ascii: "\"") }

    private static func mayStandBeforeSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "]"): true
        default: false
        }
    }

    private static func mayFollowSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: ">"): true
        default: false
        }
    }
}
