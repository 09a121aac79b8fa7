internal import InterceptorsSyntax

/// A secret value whose name is a separate member beside it, as in `{"name":"password","value":"…"}`.
struct NamedValue {
    /// The value's first index. In JSON the value includes its quotes.
    let start: Int
    /// The index after the value. Until a closing bracket is found, the end of the text.
    var end: Int
    /// Whether the placeholder needs quotes to keep the JSON valid.
    let isQuoted: Bool
}

/// Finds named values in one pass, before anything is replaced, because a name may follow its value.
///
/// A group is an object, a list, or the text outside all brackets. If a group's `name`, `key` or `type` is a sensitive name,
/// the group's `value` is hidden, in either order. Malformed text closes a group late or never, which hides more.
///
/// Not copyable, because the compiler would copy the state for each method call.
struct NamedValues: ~Copyable {
    /// A value that its group may hide.
    private struct Candidate {
        var value: NamedValue
        let role: MemberRole
        /// The index of the previous candidate in the same group.
        let previous: Int?
        var isHidden = false
    }

    private struct Group {
        /// The bracket that opens the group. Zero outside all brackets.
        var opening: UInt8 = 0
        /// The candidate whose value is this whole group, if any.
        var whole: Int?
        var lastCandidate: Int?
        var hasName = false
        var namesSecret = false
        var isJSONWebKey = false
        /// Whether a named member was found, so that the group isn't a list.
        var hasMembers = false
        /// The number of elements before the current one.
        var index = 0
    }

    let bytes: UnsafeBufferPointer<UInt8>
    private let redaction: Redaction
    private let isCut: Bool
    private var position = 0
    private var group = Group()
    private var outer: [Group] = []
    private var candidates: [Candidate] = []
    /// Whether a later single quote may close a string. Once false, text full of apostrophes isn't searched again.
    var hasSingleQuotes = true

    private let roles = MemberRole.Table.shared

    private init(_ bytes: UnsafeBufferPointer<UInt8>, _ redaction: Redaction, isCut: Bool) {
        self.bytes = bytes
        self.redaction = redaction
        self.isCut = isCut
    }

    /// The values to hide, ordered by their start.
    static func found(in bytes: [UInt8], by redaction: Redaction, isCut: Bool) -> [NamedValue] {
        bytes.withUnsafeBufferPointer { bytes in
            var search = NamedValues(bytes, redaction, isCut: isCut)
            search.run()
            guard !search.candidates.isEmpty else { return [] }
            return search.candidates.filter(\.isHidden).map(\.value)
        }
    }

    private mutating func run() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): readString()
            case UInt8(ascii: "'"): readSingleQuoted()
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): open(as: nil)
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"): close()
            case UInt8(ascii: ","):
                group.index += 1
                position += 1
            case 0x0A: readLineBreak()
            case UInt8(ascii: ":"), UInt8(ascii: "="): readSign()
            default: position += 1
            }
        }
        while true {
            decide(isClosed: false)
            guard let next = outer.popLast() else { return }
            group = next
        }
    }

    // MARK: Groups

    private mutating func open(as whole: Int?) {
        outer.append(group)
        group = Group(opening: bytes[position], whole: whole)
        position += 1
    }

    private mutating func close() {
        let opening: UInt8 =
            switch bytes[position] {
            case UInt8(ascii: "}"): UInt8(ascii: "{")
            case UInt8(ascii: "]"): UInt8(ascii: "[")
            default: UInt8(ascii: "(")
            }
        position += 1
        guard group.opening == opening, let next = outer.popLast() else { return }
        decide(isClosed: true)
        if let whole = group.whole { candidates[whole].value.end = position }
        group = next
    }

    /// Hides the values of a group that ends here.
    private mutating func decide(isClosed: Bool) {
        // The cut may have removed the group's name, or its key type, so the value may be a secret. A text without brackets is one
        // group, whatever it names.
        let isUnfinished = !isClosed && isCut && group.opening != UInt8(ascii: "[")
        let isUnnamed = isUnfinished && (!group.hasName || group.opening == 0)
        var next = group.lastCandidate
        while let index = next {
            let isText = isText(candidates[index].value)
            let isSecret =
                switch candidates[index].role {
                case .value, .content: group.namesSecret || isUnnamed && isText
                case .partOfKey: group.isJSONWebKey || isUnfinished && isText
                default: false
                }
            if isSecret { candidates[index].isHidden = true }
            next = candidates[index].previous
        }
        group.lastCandidate = nil
    }

    /// Whether a value is neither in brackets nor, in JSON, a number.
    private func isText(_ value: NamedValue) -> Bool {
        switch bytes[value.start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): false
        case UInt8(ascii: "0")...UInt8(ascii: "9"): group.opening != UInt8(ascii: "{")
        // The redactor hides a private key whole, beyond its first line.
        case UInt8(ascii: "-"): group.opening != UInt8(ascii: "{") && !isRule(at: value.start)
        default: true
        }
    }

    /// Outside brackets, an empty line or a YAML item starts a new group.
    private mutating func readLineBreak() {
        position += 1
        guard group.opening == 0 else { return }
        var next = position
        while next < bytes.count, bytes[next] == 0x20 || bytes[next] == 0x09 || bytes[next] == 0x0D { next += 1 }
        guard next < bytes.count else { return }
        let isItem = bytes[next] == UInt8(ascii: "-") && next + 1 < bytes.count && bytes[next + 1] <= 0x20
        guard isItem || bytes[next] == 0x0A || bytes[next] == UInt8(ascii: "-") && isRule(at: next) else { return }
        decide(isClosed: true)
        group = Group()
    }

    private func isRule(at index: Int) -> Bool {
        index + 2 < bytes.count && bytes[index + 1] == UInt8(ascii: "-") && bytes[index + 2] == UInt8(ascii: "-")
    }

    // MARK: Names and elements

    private mutating func readString() {
        let start = position
        if start > 0, bytes[start - 1] == UInt8(ascii: "\\") || bytes.isNamedWord(bytes[start - 1]) {
            // If the text was cut out of a string, a quote after a word closes a name, and an escaped quote opens nothing.
            let next = bytes.skippingWhitespace(from: start + 1)
            let isClosing = bytes.isSign(at: next)
            if isClosing || bytes[start - 1] == UInt8(ascii: "\\") { return position = isClosing ? next : start + 1 }
        }
        let closing = bytes.endOfString(from: start, quote: bytes[start], backslashes: 0)
        position = closing ?? bytes.count
        guard let closing else { return }
        let sign = bytes.skippingWhitespace(from: closing)
        let content = (start + 1)..<(closing - 1)
        if bytes.isSign(at: sign) {
            readMember(roles.role(of: content, in: bytes, isEscaped: true), sign: sign, isQuoted: true)
        } else {
            readElement(content)
        }
    }

    private mutating func readSingleQuoted() {
        guard isStartOfValue(position), let closing = endOfSingleQuoted(at: position) else { return position += 1 }
        let content = (position + 1)..<(closing - 1)
        position = closing
        let sign = bytes.skippingWhitespace(from: closing)
        if bytes.isSign(at: sign) {
            readMember(roles.role(of: content, in: bytes, isEscaped: true), sign: sign, isQuoted: false)
        } else {
            readElement(content)
        }
    }

    /// Reads the word before a sign. Looking back from signs is cheaper, because most words have no sign after them.
    private mutating func readSign() {
        let sign = position
        position += 1
        guard !bytes.isStartOfAuthority(at: sign), let word = bytes.namedWord(beforeSign: sign) else { return }
        readMember(roles.role(of: word, in: bytes, isEscaped: false), sign: sign, isQuoted: false)
    }

    private mutating func readMember(_ role: MemberRole?, sign: Int, isQuoted: Bool) {
        group.hasMembers = true
        position = sign
        while position < bytes.count, bytes.isSign(at: position) || bytes[position] == UInt8(ascii: ">") {
            position += 1
        }
        position = isQuoted ? bytes.skippingWhitespace(from: position) : bytes.skippingSpaces(from: position)
        guard let role, position < bytes.count else { return }
        switch role {
        case .name, .type: readName(role)
        case .value, .content, .partOfKey: addCandidate(role, isQuoted: isQuoted)
        case .keyType: group.isJSONWebKey = true
        case .nameOrPartOfKey:
            let start = position
            readName(.name)
            position = start
            addCandidate(.partOfKey, isQuoted: isQuoted)
        }
    }

    /// Reads the value of a `name`, `key` or `type` member.
    private mutating func readName(_ role: MemberRole) {
        group.hasName = true
        guard let value = scalar(at: position) else { return }
        position = value.end
        if value.isOpen && isCut || isSensitive(value.content, as: role) { group.namesSecret = true }
    }

    /// In `[["password", "…"]]` and `("password", "…")`, the second element is the value of the first.
    private mutating func readElement(_ content: Range<Int>) {
        guard !group.hasMembers, group.index == 0, isListOfPairs, content.count <= 64 else { return }
        var next = bytes.skippingWhitespace(from: position)
        guard next < bytes.count, bytes[next] == UInt8(ascii: ","), isSensitive(content, as: .name) else { return }
        next = bytes.skippingWhitespace(from: next + 1)
        guard next < bytes.count else { return }
        let isText = "\"'{[(".utf8.contains(bytes[next]) || isPrefixOfString(at: next)
        guard isText || group.opening == UInt8(ascii: "[") else { return }
        position = next
        group.index += 1
        let previous = candidates.count
        addCandidate(.value, isQuoted: true)
        if candidates.count > previous { candidates[previous].isHidden = true }
    }

    private var isListOfPairs: Bool {
        switch group.opening {
        case UInt8(ascii: "("): true
        case UInt8(ascii: "["): outer.last?.opening == UInt8(ascii: "[")
        default: false
        }
    }

    // MARK: Values

    private mutating func addCandidate(_ role: MemberRole, isQuoted: Bool) {
        let start = position
        switch bytes[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("):
            add(NamedValue(start: start, end: bytes.count, isQuoted: isQuoted), role)
            open(as: candidates.count - 1)
        default:
            guard let value = scalar(at: start) else { return }
            position = value.end
            guard !isLiteral(value.content) else { return }
            // The placeholder replaces a double-quoted string including its quotes, because the redactor reads such strings
            // whole.
            let isClosed = bytes[value.end - 1] == 0x22 && value.content.upperBound < value.end
            let isString = isClosed || value.isOpen && bytes[start] == 0x22
            if isQuoted && bytes[start] != 0x27 && !isPrefixOfString(at: start) || isString {
                add(NamedValue(start: start, end: value.end, isQuoted: true), role)
            } else {
                add(NamedValue(start: value.content.lowerBound, end: value.content.upperBound, isQuoted: false), role)
            }
        }
    }

    private mutating func add(_ value: NamedValue, _ role: MemberRole) {
        guard value.start < value.end else { return }
        candidates.append(Candidate(value: value, role: role, previous: group.lastCandidate))
        group.lastCandidate = candidates.count - 1
    }

    private struct Scalar {
        /// The range of the text inside the quotes.
        var content: Range<Int>
        /// The index after the value, quotes included.
        var end: Int
        /// Whether the closing quote is missing.
        var isOpen = false
    }

    /// A string, or a run of unquoted words. `nil` for anything in brackets.
    private func scalar(at start: Int) -> Scalar? {
        var quote = start
        quote = bytes.skippingBackslashes(from: quote)
        let backslashes = quote - start
        quote = bytes.quoteBehindPrefix(from: quote) ?? quote
        guard quote < bytes.count else { return nil }
        switch bytes[quote] {
        case 0x22, 0x27:
            if backslashes == 0, bytes.isTripleQuote(at: quote) {
                var end = quote + 3
                while end < bytes.count, bytes[end] != bytes[quote] || !bytes.isTripleQuote(at: end) { end += 1 }
                return Scalar(content: (quote + 3)..<end, end: min(end + 3, bytes.count), isOpen: end == bytes.count)
            }
            let end = bytes.endOfString(from: quote, quote: bytes[quote], backslashes: backslashes)
            let content = (quote + 1)..<(end.map { $0 - 1 - backslashes } ?? bytes.count)
            return Scalar(content: content, end: end ?? bytes.count, isOpen: end == nil)
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): return nil
        default:
            let end = endOfBareValue(from: start)
            return Scalar(content: start..<end, end: end, isOpen: end == bytes.count)
        }
    }

    /// The end of an unquoted value: a delimiter, the end of the line, or the next name.
    private func endOfBareValue(from start: Int) -> Int {
        var end = start
        while end < bytes.count {
            switch bytes[end] {
            case 0x0A, 0x0D, 0x22, 0x27, UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "<"),
                UInt8(ascii: ">"), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"):
                return end
            case 0x20, 0x09:
                let word = bytes.skippingSpaces(from: end)
                let wordEnd = bytes.endOfNamedWord(from: word)
                if word == wordEnd || bytes.isSign(at: wordEnd) { return end }
                end = wordEnd
            default: end += 1
            }
        }
        return end
    }

    private func isSensitive(_ content: Range<Int>, as role: MemberRole) -> Bool {
        guard !content.isEmpty, content.count <= 256 else { return false }
        let text = Array(bytes[content])[...]
        // A `type` of `code` or `key` usually means source code or an index, not a secret.
        if role == .type, TextRedactor.isOneOf(["code", "key"], text) { return false }
        if redaction.isSensitive(text) { return true }
        guard text.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "%") }) else { return false }
        return redaction.isSensitive(TextRedactor.unescaped(text).percentDecodedFully[...])
    }

    private func isLiteral(_ content: Range<Int>) -> Bool {
        content.count <= 5 && TextRedactor.isOneOf(["true", "false", "null"], Array(bytes[content])[...])
    }
}
