internal import InterceptorsSyntax

/// Replaces the values of sensitive names in JSON (RFC 8259), also in several values in a row, and in text that breaks off.
///
/// For people, a secret of any type becomes the placeholder. For programs, a secret keeps its type: a number becomes 0, and an object
/// or array keeps its shape. `true`, `false`, `null` and `""` tell nothing, so they stay.
struct JSONRedactor {
    private enum Expected { case value, valueOrEnd, name, nameOrEnd, colon, separator }

    private let redaction: Redaction
    private let bytes: [UInt8]
    private let isCut: Bool
    private let depth: Int
    private var position = 0
    private var expected = Expected.value
    private var hasValue = false
    private var isFaulty = false
    private var brackets: [UInt8] = []
    /// The last member's name, if it is sensitive.
    private var secretName: [UInt8]?
    /// The object or array of a sensitive name that is open: the number of brackets around it, and its start.
    private var secret: (level: Int, start: Int)?
    private var output: [UInt8] = []
    private var copied = 0

    init(_ bytes: [UInt8], by redaction: Redaction, isCut: Bool, depth: Int = 0) {
        (self.bytes, self.redaction, self.isCut, self.depth) = (bytes, redaction, isCut, depth)
    }

    /// - Returns: the text, unchanged if it holds no secret, and whether it is JSON to its end. For people, the text after a fault is
    ///   as it was.
    mutating func run() -> (text: [UInt8], isJSON: Bool) {
        let isJSON = isJSON()
        return (copied == 0 ? bytes : output + bytes[copied...], isJSON)
    }

    private mutating func isJSON() -> Bool {
        position = ByteOrderMark.lengthOfUTF8(bytes)
        while true {
            // U+001E precedes each value of a JSON text sequence (RFC 7464).
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) || isSequenceMark {
                position += 1
            }
            if position == bytes.count {
                if let secret, !redaction.isForPrograms { replace(from: secret.start, with: placeholder) }
                return !isFaulty && (isCut || brackets.isEmpty && hasValue)
            }
            if step() { continue }
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
        (brackets, secret, secretName, expected) = ([], nil, nil, .value)
    }

    private var isSequenceMark: Bool { bytes[position] == 0x1E && brackets.isEmpty }

    /// Reads one token; `false` if it can't come here.
    private mutating func step() -> Bool {
        let byte = bytes[position]
        switch (expected, byte) {
        case (.value, UInt8(ascii: "{")), (.valueOrEnd, UInt8(ascii: "{")): open(byte, .nameOrEnd)
        case (.value, UInt8(ascii: "[")), (.valueOrEnd, UInt8(ascii: "[")): open(byte, .valueOrEnd)
        case (.nameOrEnd, UInt8(ascii: "}")), (.valueOrEnd, UInt8(ascii: "]")), (.separator, UInt8(ascii: "}")),
            (.separator, UInt8(ascii: "]")):
            return close(byte)
        case (.separator, UInt8(ascii: ",")):
            // A program may accept a comma before a closing bracket.
            let (name, value): (Expected, Expected) =
                redaction.isForPrograms ? (.nameOrEnd, .valueOrEnd) : (.name, .value)
            skip(brackets.last == UInt8(ascii: "{") ? name : value)
        case (.colon, UInt8(ascii: ":")): skip(.value)
        case (.name, UInt8(ascii: "\"")), (.nameOrEnd, UInt8(ascii: "\"")): return takeString(isName: true)
        case (.value, _), (.valueOrEnd, _):
            return byte == UInt8(ascii: "\"") ? takeString(isName: false) : takeWord()
        default: return false
        }
        return true
    }

    private mutating func skip(_ next: Expected) {
        position += 1
        expected = next
    }

    private mutating func open(_ bracket: UInt8, _ next: Expected) {
        if secretName != nil, secret == nil { secret = (brackets.count, position) }
        brackets.append(bracket)
        skip(next)
    }

    private mutating func close(_ bracket: UInt8) -> Bool {
        // In ASCII, a closing bracket comes two after the opening one.
        guard brackets.popLast() == bracket - 2 else { return false }
        position += 1
        if let secret, secret.level == brackets.count {
            if !redaction.isForPrograms { replace(from: secret.start, with: placeholder) }
            self.secret = nil
        }
        endValue()
        return true
    }

    private mutating func endValue() {
        hasValue = true
        if secret == nil { secretName = nil }
        expected = brackets.isEmpty ? .value : .separator
    }

    private mutating func takeString(isName: Bool) -> Bool {
        let start = position
        guard let (text, isClosed) = takeText() else { return false }
        if isName, secret == nil { secretName = redaction.isSensitive(text[...]) ? text : nil }
        if secretName == nil {
            redact(text, from: start, isClosed: isClosed)
        } else if !isName, !text.isEmpty {
            replaceSecret(text[...], from: start, with: placeholder, isCut: !isClosed)
        }
        if isName { expected = .colon } else { endValue() }
        return true
    }

    /// Replaces secrets in a string that has just been read.
    private mutating func redact(_ text: [UInt8], from start: Int, isClosed: Bool) {
        guard let redacted = redaction.redacted(text, isCut: isCut && !isClosed, depth: depth + 1) else { return }
        let quote = [UInt8(ascii: "\"")]
        replace(from: start, with: quote + JSONEscapes.encoded(redacted) + (isClosed ? quote : []))
    }

    /// Replaces a value under a sensitive name. Within a secret object, people see nothing anyway.
    private mutating func replaceSecret(_ value: ArraySlice<UInt8>, from start: Int, with secret: [UInt8], isCut: Bool)
    {
        guard let secretName, self.secret == nil || redaction.isForPrograms,
            !TextRedactor.isHarmless(value, name: secretName[...], isCut: isCut)
        else { return }
        replace(from: start, with: secret)
    }

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
        if !isLiteral {
            let secret = redaction.isForPrograms ? [UInt8(ascii: "0")] : placeholder
            replaceSecret(word, from: start, with: secret, isCut: isCut)
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
