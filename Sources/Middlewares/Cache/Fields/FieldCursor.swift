internal import Interceptors

/// Reads a field value byte by byte (RFC 9110 §5.6).
struct FieldCursor {
    private let bytes: [UInt8]
    private(set) var index = 0
    /// Whether an unterminated quote has been met. Then no later quote is terminated: the earlier quote's scan has passed every
    /// later quote as escaped content, and both scans read the rest alike.
    private var hasEndlessQuote = false

    init(_ text: String) { bytes = Array(text.utf8) }

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    var isAtEnd: Bool { index == bytes.count }

    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// The bytes between an earlier index and the current one.
    func taken(since start: Int) -> ArraySlice<UInt8> { bytes[start..<index] }

    mutating func advance() { index += index < bytes.count ? 1 : 0 }

    /// Consumes a byte if it is next. Returns whether it was.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Skips spaces and tabs. Returns whether there were any.
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

    /// Takes the letters that come next, in lower case.
    mutating func takeWord() -> String { Self.lowercased(takeWhile { ASCII.lowercased($0) &- 0x61 < 26 }) }

    /// Takes a token in lower case; empty if no token is next.
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

    /// Takes a quoted-string, and returns its unescaped content. If the string is unterminated, takes nothing and returns
    /// `nil`.
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
        // Remembered, because a line of nothing but quotes would otherwise be scanned to its end for each of them.
        hasEndlessQuote = true
        index = start
        return nil
    }

    /// Takes the digits that come next as a number of at most `ceiling`, without overflow; `nil` if there is no digit.
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

/// A number of seconds in a cache field (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The maximum: a greater number counts as this one.
    static let ceiling: Int64 = 1 << 31

    /// The seconds, at most ``ceiling``; `nil` unless all bytes are digits.
    static func parse(_ bytes: ArraySlice<UInt8>) -> Int64? {
        var cursor = FieldCursor(bytes)
        guard let seconds = cursor.takeNumber(ceiling: ceiling), cursor.isAtEnd else { return nil }
        return seconds
    }

    /// The value of `Age`, or the first member of several; `nil` if it is malformed and must be ignored (RFC 9111 §5.1).
    static func age(in fields: HTTPFields) -> Int64? {
        guard let value = fields.first(.age) else { return nil }
        var cursor = FieldCursor(value)
        cursor.skipWhitespace()
        guard let age = cursor.takeNumber(ceiling: ceiling) else { return nil }
        cursor.skipWhitespace()
        return cursor.isAtEnd || cursor.peek == UInt8(ascii: ",") ? age : nil
    }
}

/// Lists of tokens, such as the values of `Vary` and `Connection` (RFC 9110 §5.6.1).
enum TokenList {
    /// The members in lower case, without empty members; `nil` if a member isn't a token.
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

/// The request fields that select a response (RFC 9110 §12.5.5).
enum VaryField: Equatable {
    /// `*` or a malformed value: anything may have affected the response, so no other request matches.
    case everything
    /// These fields: lower case, sorted, unique.
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
