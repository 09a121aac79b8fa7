internal import InterceptorsSyntax

/// Copies text without its secrets. A single pass handles JSON, forms, XML and log lines alike.
///
/// Between two steps, the text up to `copied` is in `output` without secrets, and the text from there to `position` is safe
/// to copy. If the text is cut off, malformed or deliberately confusing, the unclear part counts as secret.
///
/// Not copyable, because the compiler would copy the state for each method call.
struct TextRedactor: ~Copyable {
    // Text nested in strings more deeply than this counts as secret.
    private static let maximalDepth = 6

    let redaction: Redaction
    let bytes: [UInt8]
    /// Whether more text followed, so that a value at the end may be incomplete.
    let isCut: Bool
    let depth: Int
    /// Whether quotes come in pairs, as in JSON. In prose, a quote may be single.
    let isJSON: Bool
    /// The line before each part of a multipart form (RFC 2046 §5.1.1). `nil` for any other text.
    private let boundary: [UInt8]?
    var position = 0
    /// The redacted text up to `copied`. Empty until the first secret is found.
    private var output: [UInt8] = []
    private var copied = 0
    /// Values made secret by a separate name, ordered by their start, and the number of them already passed.
    private let named: [NamedValue]
    private var namedBehind = 0
    /// The start of an XML element whose name is the text of its sibling, as in a property list.
    var namedElement: Int?
    /// The end of the last tag that was searched. A `<` before it is within an attribute's value.
    var endOfTags = 0
    /// No encoded value before this index is secret. A text full of `=` isn't searched again.
    private var plainUntil = 0
    /// The item that is missing at the end of the text, or `nil` if the text is complete.
    var missing: Missing?

    enum Missing {
        /// The value of a sensitive name.
        case value
        /// The end of a tag whose element is secret.
        case endOfTag
    }

    /// The text without its secrets, or `nil` if it contains none.
    static func redacted(_ bytes: [UInt8], by redaction: Redaction, isCut: Bool, depth: Int) -> [UInt8]? {
        var redactor = TextRedactor(bytes, by: redaction, isCut: isCut, depth: depth)
        return redactor.run()
    }

    init(_ bytes: [UInt8], by redaction: Redaction, isCut: Bool, depth: Int) {
        self.bytes = bytes
        self.redaction = redaction
        self.isCut = isCut
        self.depth = depth
        let first = bytes.dropFirst(ByteOrderMark.lengthOfUTF8(bytes)).first { $0 > 0x20 }
        boundary = bytes.starts(with: "--".utf8) ? bytes.prefix { $0 > 0x20 } : nil
        isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"")
        named = depth <= Self.maximalDepth ? NamedValues.found(in: bytes, by: redaction, isCut: isCut) : []
    }

    mutating func run() -> [UInt8]? {
        guard depth <= Self.maximalDepth else { return Array(redaction.placeholder.utf8) }
        while position < bytes.count {
            if namedBehind < named.count, position >= named[namedBehind].start {
                hideNamedValue()
                continue
            }
            switch bytes[position] {
            case UInt8(ascii: "\""): redactString()
            case UInt8(ascii: "<"): redactElement()
            case UInt8(ascii: "/"): redactUser()
            case let byte where Self.isWord(byte): redactWord()
            default: position += 1
            }
        }
        guard copied > 0 else { return nil }
        return output + bytes[copied...]
    }

    /// Replaces the text from an index to the current position with the placeholder.
    mutating func hide(from start: Int, quoted: Bool = false) {
        let quotes = quoted ? "\"" : ""
        replace(from: start, with: Array((quotes + redaction.placeholder + quotes).utf8))
    }

    /// Hides a value made secret by a separate name, or the rest of that value if its beginning was already replaced.
    private mutating func hideNamedValue() {
        let value = named[namedBehind]
        namedBehind += 1
        guard value.end > position else { return }
        let start = position
        guard !isPlaceholder(at: start) else { return }
        let isWhole = value.isQuoted && start == value.start
        if isWhole, let leaves = hiddenLeaves(at: start), leaves.end == value.end {
            position = leaves.end
            return replace(from: start, with: leaves.text)
        }
        position = value.end
        hide(from: start, quoted: isWhole)
    }

    mutating func replace(from start: Int, with replacement: [UInt8]) {
        output += bytes[copied..<start]
        output += replacement
        copied = position
    }

    // MARK: Strings

    private mutating func redactString() {
        let start = position
        let closing = bytes.endOfString(from: start, quote: UInt8(ascii: "\""), backslashes: 0)
        position = closing ?? bytes.count
        let quoted = bytes[(start + 1)..<(closing == nil ? position : position - 1)]
        let content = quoted.contains(UInt8(ascii: "\\")) ? Self.unescaped(quoted)[...] : quoted
        let missing = redactContent(content, from: start, isClosed: closing != nil)
        let sign = bytes.signAfterString(position)
        if closing != nil, bytes.isSign(at: sign), redaction.isSensitive(content) {
            position = bytes.skippingWhitespace(from: bytes.afterSign(sign))
            guard position < bytes.count, !isHarmless(at: position, name: content), !isPlaceholder(at: position),
                !isErrorName(at: position, name: content)
            else { return }
            let value = position
            if bytes[sign] == UInt8(ascii: ":"), let leaves = hiddenLeaves(at: value) {
                position = leaves.end
                return replace(from: value, with: leaves.text)
            }
            skipJSONValue()
            hide(from: value, quoted: true)
        } else if let missing, !isJSON || !goesOnAsJSON(from: position) {
            let rest = position
            switch missing {
            case .value: skipLine()
            case .endOfTag: position = bytes.count
            }
            hide(from: rest)
        }
    }

    /// Whether the text after a string may be JSON. A text may only begin as JSON: what seemed to be strings then isn't.
    private func goesOnAsJSON(from end: Int) -> Bool {
        let next = bytes.skippingWhitespace(from: end)
        guard next < bytes.count else { return true }
        // After whitespace, another JSON text may begin (RFC 7464 §2.2).
        return ",:]}".utf8.contains(bytes[next]) || next > end && "\"[{".utf8.contains(bytes[next])
    }

    /// The number, object or array at an index with hidden leaves; `nil` for any other value, or if types needn't be kept.
    private func hiddenLeaves(at start: Int) -> (text: [UInt8], end: Int)? {
        redaction.keepsTypes ? JSONLeaves.hidden(in: bytes, at: start, placeholder: redaction.placeholder) : nil
    }

    /// Hides secrets inside a string. Returns the item that is missing at the string's end.
    private mutating func redactContent(_ content: ArraySlice<UInt8>, from start: Int, isClosed: Bool) -> Missing? {
        guard content.contains(where: Redaction.mayReveal) || content.starts(with: "eyJ".utf8) else { return nil }
        var inner = TextRedactor(Array(content), by: redaction, isCut: isCut && !isClosed, depth: depth + 1)
        if let redacted = inner.run() {
            let quote = [UInt8(ascii: "\"")]
            replace(from: start, with: quote + Self.escaped(redacted) + (isClosed ? quote : []))
        }
        return inner.missing
    }

    // MARK: Words

    private mutating func redactWord() {
        let start = position
        var isEncoded = false
        var end = start
        while end < bytes.count, Self.isWord(bytes[end]) {
            if bytes[end] == UInt8(ascii: "%") { isEncoded = true }
            end += 1
        }
        position = end
        let word = bytes[start..<end]
        let next = end < bytes.count ? bytes[end] : 0
        if Self.holdsToken(word) {
            hide(from: start)
        } else if bytes[start] == UInt8(ascii: "-") || bytes[start] == UInt8(ascii: "B"),
            let key = privateKey(at: start)
        {
            position = key.upperBound
            if !isPlaceholder(at: key.lowerBound) { hide(from: key.lowerBound) }
        } else if Self.mayPrecedeSign(next), let sign = bytes.sign(afterWord: position) {
            redactMember(word, sign: sign)
        } else if next == UInt8(ascii: "("), redaction.isSensitive(word), let arguments = quotedArguments(at: position)
        {
            position = arguments.upperBound
            hide(from: arguments.lowerBound)
        } else if isEncoded, isRevealing(encoded: word, isCut: isCut && position == bytes.count) {
            hide(from: start)
        } else if next == 0x20, let argument = secretArgument(after: word) {
            position = argument.upperBound
            hide(from: argument.lowerBound)
        } else if Self.isScheme(word) {
            redactCredentials(word)
        }
    }

    private mutating func redactMember(_ word: ArraySlice<UInt8>, sign: Int) {
        let name = word.contains(UInt8(ascii: "%")) ? Array(word).percentDecodedFully[...] : word
        if redaction.isSensitive(name) {
            redactValue(of: name, from: word.startIndex, sign: sign)
        } else if boundary != nil, isPartOfSecretName(name, sign: sign) {
            hidePart()
        } else if bytes[sign] == UInt8(ascii: "="), sign >= plainUntil {
            redactEncodedValue(sign: sign)
        }
    }

    private mutating func redactValue(of name: ArraySlice<UInt8>, from start: Int, sign: Int) {
        let isLine =
            bytes[sign] == UInt8(ascii: ":") && isStartOfLine(start)
        position = bytes.skippingSpaces(from: bytes.afterSign(sign))
        guard position < bytes.count else { return missing = .value }
        guard !isHarmless(at: position, name: name), !isPlaceholder(at: position) else { return }
        let isForm = bytes[sign] == UInt8(ascii: "=")
        let value = textValue(
            isLine: isLine || Self.valuesWithSpaces.isSensitive(name),
            isForm: isForm,
            indent: isLine ? indent(ofLineAt: start) : nil
        )
        position = value.upperBound
        if !value.isEmpty { hide(from: value.lowerBound) }
    }

    /// Hides the percent-encoded value in `next=https%3A%2F%2F…` if a secret is inside, although its name isn't sensitive.
    private mutating func redactEncodedValue(sign: Int) {
        let end = bytes[(sign + 1)...].firstIndex { Self.endsValue($0) } ?? bytes.count
        position = sign + 1
        if isRevealing(encoded: bytes[position..<end], isCut: isCut && end == bytes.count) {
            position = end
            hide(from: sign + 1)
        } else {
            plainUntil = end
        }
    }

    /// Hides the credentials after `Bearer` or `Basic`, unless prose or a parameter follows. For `Digest`, hides the parameters
    /// that answer a challenge (RFC 7616 §3.4).
    private mutating func redactCredentials(_ scheme: ArraySlice<UInt8>) {
        let start = bytes.skippingSpaces(from: position)
        if Self.isOneOf(["digest"], scheme) {
            let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
            guard bytes[start..<end].prefix(2048).firstRange(of: "response=".utf8) != nil else { return }
            position = end
            return hide(from: start)
        }
        let end = bytes[start...].firstIndex { !Self.isToken68($0) } ?? bytes.count
        guard start > position, end > start, !Self.isProse(bytes[start..<end]) else { return }
        let padded = bytes[end...].firstIndex { $0 != UInt8(ascii: "=") } ?? bytes.count
        let isParameter = padded == end + 1 && padded < bytes.count && bytes[padded] > 0x20
        guard !isParameter || !Self.isParameterName(bytes[start..<end]) else { return }
        position = padded
        hide(from: start)
    }

    private func isRevealing(encoded: ArraySlice<UInt8>, isCut: Bool) -> Bool {
        guard encoded.contains(UInt8(ascii: "%")) else { return false }
        let decoded = Array(encoded).percentDecoded
        guard decoded.count != encoded.count else { return false }
        return Self.redacted(decoded, by: redaction, isCut: isCut, depth: depth + 1) != nil
    }

    // MARK: URLs, multipart

    /// Hides the user and password of a URL.
    private mutating func redactUser() {
        guard bytes[position...].starts(with: "//".utf8) else { return position += 1 }
        let start = position + 2
        let end = bytes[start...].firstIndex { Self.endsAuthority($0) } ?? bytes.count
        if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) {
            position = at
            hide(from: start)
        } else if isCut, end == bytes.count, start < end {
            // The cut may have removed the `@` after a user, who may be a token.
            position = end
            hide(from: start)
        } else {
            position = start
        }
    }

    /// Whether this is `name="password"` in the head of a part (RFC 7578 §4.2).
    private func isPartOfSecretName(_ name: ArraySlice<UInt8>, sign: Int) -> Bool {
        guard name.elementsEqual("name".utf8) else { return false }
        let value = bytes[(sign + 1)...].prefix(256).drop { $0 == UInt8(ascii: "\"") }
        return redaction.isSensitive(value.prefix { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ";") })
    }

    /// Hides the part's content, from the end of this line to the next boundary.
    private mutating func hidePart() {
        let end = bytes[position...].firstRange(of: [0x0A] + (boundary ?? []))?.lowerBound ?? bytes.count
        let lineEnd = bytes[position..<end].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? end
        position = end
        guard lineEnd < end else { return }
        replace(from: lineEnd, with: Array(("\n\n" + redaction.placeholder).utf8))
    }
}
