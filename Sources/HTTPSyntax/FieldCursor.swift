/// Reads a field value byte by byte (RFC 9110 §5.6).
package struct FieldCursor {
    private let bytes: [UInt8]
    private var index = 0
    /// Whether an unterminated quote has been met. Then no later quote is terminated: the earlier quote's scan has passed every
    /// later quote as escaped content, and both scans read the rest alike.
    private var hasEndlessQuote = false

    package init(_ text: String) { bytes = Array(text.utf8) }

    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    package var isAtEnd: Bool { index == bytes.count }

    package var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    package mutating func advance() { index += index < bytes.count ? 1 : 0 }

    /// Takes the byte if it comes next.
    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Skips spaces and tabs. Returns whether it found any.
    @discardableResult
    package mutating func skipWhitespace() -> Bool {
        let start = index
        while let byte = peek, byte == 0x20 || byte == 0x09 { index += 1 }
        return index > start
    }

    package mutating func takeWhile(_ belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = index
        while let byte = peek, belongs(byte) { index += 1 }
        return bytes[start..<index]
    }

    package mutating func takeToken() -> ArraySlice<UInt8> { takeWhile { ASCII.isToken($0) } }

    /// Takes a token; in lower case, and empty if no token comes next.
    package mutating func takeLowercasedToken() -> String { Self.lowercased(takeToken()) }

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

    /// Takes a quoted-string, and returns its content without escapes. Takes nothing and returns `nil` if no quote comes
    /// next or the string never ends.
    package mutating func takeQuotedString() -> ArraySlice<UInt8>? {
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
        hasEndlessQuote = true
        index = start
        return nil
    }

    /// Takes an equals sign, and the whitespace around it. Takes nothing and returns `false` if none comes next.
    package mutating func takeEquals() -> Bool {
        let start = index
        skipWhitespace()
        guard take("=") else {
            index = start
            return false
        }
        skipWhitespace()
        return true
    }

    /// Takes the value of a parameter, a token or a quoted-string (RFC 9110 §5.6.6); `nil` if neither comes next.
    package mutating func takeTokenOrString() -> String? {
        if peek == UInt8(ascii: "\"") { return takeQuotedString().map { String(decoding: $0, as: UTF8.self) } }
        let token = takeToken()
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }

    /// Takes the rest as parameters, each after a semicolon (RFC 9110 §5.6.6), with names in lower case.
    ///
    /// A value without quotes ends at the next semicolon, because many servers don't quote spaces.
    package mutating func takeParameters() -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        while take(";") {
            skipWhitespace()
            let name = takeLowercasedToken()
            if takeEquals() {
                let value = takeQuotedString() ?? Self.trimmed(takeWhile { $0 != UInt8(ascii: ";") })
                parameters.append((name, String(decoding: value, as: UTF8.self)))
            }
            _ = takeWhile { $0 != UInt8(ascii: ";") }
        }
        return parameters
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.prefix((bytes.lastIndex { $0 != 0x20 && $0 != 0x09 } ?? bytes.startIndex - 1) + 1 - bytes.startIndex)
    }

    /// Skips whitespace. Returns whether the value or the member of a list ends there.
    package var isAtEndOfMember: Bool {
        mutating get {
            skipWhitespace()
            return isAtEnd || peek == UInt8(ascii: ",")
        }
    }

    /// Takes all digits up to the first other byte. A number above the ceiling becomes the ceiling; `nil` if no digit comes next.
    package mutating func takeNumber(ceiling: Int64 = .max) -> Int64? {
        guard let first = peek, ASCII.isDigit(first) else { return nil }
        var number: Int64 = 0
        while let byte = peek, ASCII.isDigit(byte) {
            let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowAgain) = tens.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            number = overflow || overflowAgain ? ceiling : min(sum, ceiling)
            index += 1
        }
        return number
    }
}
