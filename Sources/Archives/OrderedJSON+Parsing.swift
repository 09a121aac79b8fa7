package import Foundation
internal import InterceptorsSyntax

extension OrderedJSON {
    /// Where text stops being JSON (RFC 8259).
    package struct SyntaxError: Error {
        /// From 1.
        package let line: Int
        /// In bytes, from 1.
        package let column: Int
    }

    /// Parses UTF-8 text, with or without a byte order mark.
    ///
    /// - Throws: ``SyntaxError``, also if the text nests deeper than 256 levels.
    package init(parsing text: Data) throws {
        let parsed = Array(text).withUnsafeBufferPointer { bytes -> Result<OrderedJSON, SyntaxError> in
            var parser = JSONParser(bytes)
            if let value = parser.parseWhole() { return .success(value) }
            return .failure(parser.error)
        }
        self = try parsed.get()
    }
}

private struct JSONParser {
    private static let maxDepth = 256

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        position = ByteOrderMark.lengthOfUTF8(bytes)
    }

    var error: OrderedJSON.SyntaxError {
        let before = bytes[..<min(position, bytes.count)]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return OrderedJSON.SyntaxError(
            line: before.count { $0 == UInt8(ascii: "\n") } + 1,
            column: before.count - lineStart + 1
        )
    }

    mutating func parseWhole() -> OrderedJSON? {
        guard let value = value() else { return nil }
        skipWhitespace()
        return position == bytes.count ? value : nil
    }

    private mutating func value() -> OrderedJSON? {
        skipWhitespace()
        guard position < bytes.count, depth < Self.maxDepth else { return nil }
        depth += 1
        defer { depth -= 1 }
        switch bytes[position] {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return takeWord("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return takeWord("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return takeWord("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object() -> OrderedJSON? {
        var members: [OrderedJSON.Member] = []
        position += 1
        if take("}") { return .object([]) }
        repeat {
            skipWhitespace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\""), let name = string(), take(":"),
                let value = value()
            else { return nil }
            members.append((name, value))
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func array() -> OrderedJSON? {
        var elements: [OrderedJSON] = []
        position += 1
        if take("]") { return .array([]) }
        repeat {
            guard let value = value() else { return nil }
            elements.append(value)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func string() -> String? {
        let start = position + 1
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            if bytes[end] < 0x20 {
                position = end
                return nil
            }
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < bytes.count else { return nil }
        let raw = UnsafeBufferPointer(rebasing: bytes[start..<end])
        var text: String?
        if !raw.contains(UInt8(ascii: "\\")) {
            text = String(validating: raw, as: UTF8.self)
        } else if let decoded = JSONEscapes.decoded(UnsafeRawBufferPointer(raw)) {
            text = String(validating: decoded, as: UTF8.self)
        }
        if text != nil { position = end + 1 }
        return text
    }

    private mutating func number() -> OrderedJSON? {
        let start = position
        _ = takeNext("-")
        // JSON allows no digit after a leading 0.
        guard takeNext("0") || takeDigits() else { return nil }
        if takeNext("."), !takeDigits() { return nil }
        if takeNext("e") || takeNext("E") {
            _ = takeNext("+") || takeNext("-")
            guard takeDigits() else { return nil }
        }
        return .number(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    /// Takes all digits. Returns whether there was one.
    private mutating func takeDigits() -> Bool {
        let start = position
        while position < bytes.count, ASCII.isDigit(bytes[position]) { position += 1 }
        return position > start
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        let isNext = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
        if isNext { position += word.utf8CodeUnitCount }
        return isNext
    }

    /// Takes a character after whitespace.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipWhitespace()
        return takeNext(character)
    }

    private mutating func takeNext(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }
}
