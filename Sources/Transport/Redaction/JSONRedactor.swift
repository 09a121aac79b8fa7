internal import InterceptorsSyntax

/// Replaces the values of sensitive names in JSON (RFC 8259), also in several values in a row, and in text that breaks off.
///
/// It reads tokens, and no grammar: a string before a colon is a name, and text whose tokens are those of JSON counts as JSON.
///
/// For people, a secret of any type becomes the placeholder. For programs, a secret keeps its type: a number becomes 0, and an object
/// or array keeps its shape. `true`, `false`, `null` and `""` tell nothing, so they stay.
struct JSONRedactor {
    private let redaction: Redaction
    private let bytes: [UInt8]
    private let isCut: Bool
    private let depth: Int
    private var position = 0
    private var hasValue = false
    private var isFaulty = false
    /// The number of open brackets.
    private var level = 0
    /// The last member's name, if it is sensitive.
    private var secretName: [UInt8]?
    /// The object or array of a sensitive name that is open: the number of brackets around it, and its start.
    private var secret: (level: Int, start: Int)?
    private var output: [UInt8] = []
    private var copied = 0

    /// - Returns: the text, unchanged if it holds no secret, and whether it is JSON to its end. For people, the text after a fault is
    ///   as it was.
    static func redacted(
        _ bytes: [UInt8],
        by redaction: Redaction,
        isCut: Bool,
        depth: Int
    ) -> (text: [UInt8], isJSON: Bool) {
        var redactor = JSONRedactor(bytes, redaction, isCut, depth)
        let isJSON = redactor.run()
        return (redactor.copied == 0 ? bytes : redactor.output + bytes[redactor.copied...], isJSON)
    }

    private init(_ bytes: [UInt8], _ redaction: Redaction, _ isCut: Bool, _ depth: Int) {
        (self.bytes, self.redaction, self.isCut, self.depth) = (bytes, redaction, isCut, depth)
    }

    private mutating func run() -> Bool {
        position = ByteOrderMark.lengthOfUTF8(bytes)
        while true {
            position = nextToken
            if position == bytes.count {
                if let secret, !redaction.isForPrograms { replace(from: secret.start, with: placeholder) }
                return !isFaulty && (isCut || level == 0 && hasValue)
            }
            if step(bytes[position]) { continue }
            // A program's parser may accept more than JSON, so what comes after a fault is searched too.
            guard redaction.isForPrograms else { return false }
            isFaulty = true
            restart()
        }
    }

    /// Begins again with the next line, object or array.
    private mutating func restart() {
        let rest = bytes[min(position + 1, bytes.count)...]
        position = rest.firstIndex { $0 == 0x0A || $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } ?? bytes.count
        (level, secret, secretName) = (0, nil, nil)
    }

    private var nextToken: Int {
        bytes[position...].firstIndex { byte in
            // U+001E precedes each value of a JSON text sequence (RFC 7464).
            byte != 0x20 && byte != 0x0A && byte != 0x0D && byte != 0x09 && !(byte == 0x1E && level == 0)
        } ?? bytes.count
    }

    /// Reads one token; `false` if it isn't one of JSON.
    private mutating func step(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if secretName != nil, secret == nil { secret = (level, position) }
            level += 1
            position += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard level > 0 else { return false }
            level -= 1
            position += 1
            if let secret, secret.level == level {
                if !redaction.isForPrograms { replace(from: secret.start, with: placeholder) }
                self.secret = nil
            }
            endValue()
        case UInt8(ascii: ","), UInt8(ascii: ":"): position += 1
        case UInt8(ascii: "\""): return takeString()
        default: return takeWord()
        }
        return true
    }

    private mutating func endValue() {
        hasValue = true
        if secret == nil { secretName = nil }
    }

    private mutating func takeString() -> Bool {
        let start = position
        guard let (text, isClosed) = takeText() else { return false }
        let next = nextToken
        let isName = next < bytes.count && bytes[next] == UInt8(ascii: ":")
        if isName, secret == nil { secretName = redaction.isSensitive(text[...]) ? text : nil }
        if secretName == nil {
            redact(text, from: start, isClosed: isClosed)
        } else if !isName, isOpenToChange, !text.isEmpty, !(isClosed && isHarmless(text[...], isCut: false)) {
            replace(from: start, with: placeholder)
        }
        if !isName { endValue() }
        return true
    }

    private func isHarmless(_ value: ArraySlice<UInt8>, isCut: Bool) -> Bool {
        TextRedactor.isHarmless(value, name: (secretName ?? [])[...], isCut: isCut)
    }

    /// Replaces secrets in a string that has just been read.
    private mutating func redact(_ text: [UInt8], from start: Int, isClosed: Bool) {
        guard let redacted = redaction.redacted(text, isCut: isCut && !isClosed, depth: depth + 1) else { return }
        let quote = [UInt8(ascii: "\"")]
        replace(from: start, with: quote + JSONEscapes.encoded(redacted) + (isClosed ? quote : []))
    }

    /// Whether a leaf may be replaced: within a secret object, people see nothing.
    private var isOpenToChange: Bool { secret == nil || redaction.isForPrograms }

    /// A string without its quotes and escapes. The text may end within it.
    private mutating func takeText() -> (text: [UInt8], isClosed: Bool)? {
        let start = position + 1
        var (end, hasEscapes) = (start, false)
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            guard bytes[end] >= 0x20 else { return nil }
            if bytes[end] == UInt8(ascii: "\\") {
                hasEscapes = true
                end += 1
            }
            end += 1
        }
        let isClosed = end < bytes.count
        guard isClosed || isCut else { return nil }
        let raw = bytes[start..<min(end, bytes.count)]
        position = min(end + 1, bytes.count)
        return (hasEscapes ? Self.unescaped(raw, isClosed: isClosed) : Array(raw), isClosed)
    }

    /// An escape that the cut has broken is dropped, so that nested JSON stays JSON.
    private static func unescaped(_ raw: ArraySlice<UInt8>, isClosed: Bool) -> [UInt8] {
        for dropped in isClosed ? 0..<0 : 0..<6 {
            if let text = raw.dropLast(dropped).withUnsafeBytes({ JSONEscapes.decoded($0) }) { return text }
        }
        return raw.withUnsafeBytes { JSONEscapes.decoded($0, isLenient: true) } ?? Array(raw)
    }

    /// A number or literal.
    private mutating func takeWord() -> Bool {
        let start = position
        position = bytes[start...].firstIndex { !ASCII.isAlphanumeric($0) && !"+-.".utf8.contains($0) } ?? bytes.count
        let word = bytes[start..<position]
        let isCut = isCut && position == bytes.count
        let isLiteral = (redaction.isForPrograms ? Self.laxLiterals : Self.literals).contains {
            isCut ? $0.utf8.starts(with: word) : word.elementsEqual($0.utf8)
        }
        guard isLiteral || isNumber(word) else { return false }
        if secretName != nil, !isLiteral, isOpenToChange, !isHarmless(word, isCut: isCut) {
            replace(from: start, with: redaction.isForPrograms ? [UInt8(ascii: "0")] : placeholder)
        }
        endValue()
        return true
    }

    private func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        guard let first = word.first, first == UInt8(ascii: "-") || ASCII.isDigit(first) else { return false }
        return word.allSatisfy { ASCII.isDigit($0) || "+-.eE".utf8.contains($0) }
    }

    private static let literals = ["true", "false", "null"]
    /// With those of programs that write what JSON doesn't have.
    private static let laxLiterals = literals + ["NaN", "Infinity", "-Infinity"]

    private var placeholder: [UInt8] { Array("\"\(redaction.placeholder)\"".utf8) }

    private mutating func replace(from start: Int, with replacement: [UInt8]) {
        guard !bytes[start..<position].elementsEqual(replacement) else { return }
        // Without a secret name, the secret within the string has been noted.
        if let secretName { redaction.note(String(decoding: secretName, as: UTF8.self)) }
        output += bytes[copied..<start]
        output += replacement
        copied = position
    }
}
