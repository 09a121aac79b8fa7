internal import Interceptors

/// Reads a field value byte by byte (RFC 9110 §5.6).
struct FieldCursor {
    private let bytes: [UInt8]
    private(set) var index = 0
    /// Whether a quote has been met that never ends. Then no later one does: each of them is escaped in its content, from
    /// where on both are read alike.
    private var hasEndlessQuote = false

    init(_ text: String) { bytes = Array(text.utf8) }

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    var isAtEnd: Bool { index == bytes.count }

    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// What has been taken since the index was another.
    func taken(since start: Int) -> ArraySlice<UInt8> { bytes[start..<index] }

    mutating func advance() { index += index < bytes.count ? 1 : 0 }

    /// Takes the byte if it comes next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Skips spaces and tabs; says whether there were any.
    @discardableResult
    mutating func skipWhitespace() -> Bool {
        let start = index
        while let byte = peek, byte == 0x20 || byte == 0x09 { index += 1 }
        return index > start
    }

    mutating func takeWhile(_ belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = index
        while let byte = peek, belongs(byte) { index += 1 }
        return bytes[start..<index]
    }

    mutating func takeToken() -> ArraySlice<UInt8> { takeWhile { ASCII.isToken($0) } }

    /// As many letters as come next, in lower case.
    mutating func takeWord() -> String { Self.lowercased(takeWhile { ASCII.lowercased($0) &- 0x61 < 26 }) }

    /// A token in lower case; empty if none comes next.
    mutating func takeLowercasedToken() -> String { Self.lowercased(takeToken()) }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { text in
            var count = 0
            for byte in bytes {
                text[count] = ASCII.lowercased(byte)
                count += 1
            }
            return count
        }
    }

    /// The content of a quoted-string whose opening quote comes next, `nil` if it never ends. Then nothing is taken.
    mutating func takeQuotedString() -> ArraySlice<UInt8>? {
        let start = index
        guard !hasEndlessQuote, take("\"") else { return nil }
        var content: ArraySlice<UInt8> = []
        while let byte = peek {
            index += 1
            if byte == UInt8(ascii: "\"") { return content }
            if byte == UInt8(ascii: "\\"), let escaped = peek {
                content.append(escaped)
                index += 1
            } else {
                content.append(byte)
            }
        }
        // Looked for once: a line of nothing but quotes would be read to its end for each of them.
        hasEndlessQuote = true
        index = start
        return nil
    }

    /// As many digits as come next, as a number that stops at a ceiling instead of overflowing; `nil` without any.
    mutating func takeNumber(ceiling: Int64 = .max) -> Int64? {
        guard let first = peek, Self.isDigit(first) else { return nil }
        var number: Int64 = 0
        while let byte = peek, Self.isDigit(byte) {
            let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowAgain) = tens.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            number = overflow || overflowAgain ? ceiling : min(sum, ceiling)
            index += 1
        }
        return number
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}

/// A count of seconds as caches write them (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// What a greater one counts as.
    static let ceiling: Int64 = 1 << 31

    /// The seconds, at most ``ceiling``; `nil` for anything but digits.
    static func parse(_ bytes: ArraySlice<UInt8>) -> Int64? {
        var cursor = FieldCursor(bytes)
        guard let seconds = cursor.takeNumber(ceiling: ceiling), cursor.isAtEnd else { return nil }
        return seconds
    }

    /// The value of `Age`: the first member where there are several; `nil`, that is to be ignored, if it is no
    /// delta-seconds (RFC 9111 §5.1).
    static func age(in fields: HTTPFields) -> Int64? {
        guard let value = fields.first(.age) else { return nil }
        var cursor = FieldCursor(value)
        cursor.skipWhitespace()
        guard let age = cursor.takeNumber(ceiling: ceiling) else { return nil }
        cursor.skipWhitespace()
        return cursor.isAtEnd || cursor.peek == UInt8(ascii: ",") ? age : nil
    }
}

/// Lists of tokens, as `Vary` and `Connection` are (RFC 9110 §5.6.1).
enum TokenList {
    /// The members in lower case, empty ones left out; `nil` if one is no token.
    static func parse(_ text: String) -> [String]? {
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
}

/// Which request fields a response was selected by (RFC 9110 §12.5.5).
enum VaryField: Equatable {
    /// Anything may have played a part: no other request is ever matched. So is a value that can't be read.
    case everything
    /// These fields, in lower case, sorted, each once.
    case names([String])

    init(_ fields: HTTPFields) {
        guard fields.contains(.vary) else {
            self = .names([])
            return
        }
        var names: Set<String> = []
        for line in fields where line.name == .vary {
            guard let members = TokenList.parse(line.value), !members.contains("*") else {
                self = .everything
                return
            }
            names.formUnion(members)
        }
        self = .names(names.sorted())
    }
}
