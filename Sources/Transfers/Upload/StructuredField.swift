internal import Foundation
internal import InterceptorsSyntax

/// The values of structured fields (RFC 9651), as far as this package reads them: integers, Booleans and bytes. Values of other
/// types are checked and skipped.
struct StructuredField {
    /// The value of an Item, without its parameters.
    enum Value: Sendable, Equatable {
        case integer(Int64)
        case boolean(Bool)
        /// Empty for text that isn't Base64.
        case bytes([UInt8])
        /// A value of another type, or an inner list.
        case other
    }

    private var cursor: FieldCursor

    private init(_ text: String) { cursor = FieldCursor(text) }

    /// The value of an Item (§4.2.3), or `nil` if the text isn't one.
    static func item(_ text: String) -> Value? {
        var field = Self(text)
        field.skipSpaces()
        guard let value = field.item() else { return nil }
        field.skipSpaces()
        return field.cursor.isAtEnd ? value : nil
    }

    /// The members of a Dictionary (§4.2.2), or `nil` if the text isn't one. The last member with a name counts.
    static func dictionary(_ text: String) -> [String: Value]? {
        var field = Self(text)
        field.skipSpaces()
        var members: [String: Value] = [:]
        while !field.cursor.isAtEnd {
            guard let (name, value) = field.member() else { return nil }
            members[name] = value
            field.cursor.skipWhitespace()
            if field.cursor.isAtEnd { return members }
            guard field.cursor.take(",") else { return nil }
            field.cursor.skipWhitespace()
            // A comma at the end is a fault.
            if field.cursor.isAtEnd { return nil }
        }
        return members
    }

    private mutating func member() -> (name: String, value: Value)? {
        guard let name = key() else { return nil }
        guard cursor.take("=") else { return parameters() ? (name, .boolean(true)) : nil }
        guard let value = cursor.peek == UInt8(ascii: "(") ? innerList() : item() else { return nil }
        return (name, value)
    }

    private mutating func item() -> Value? {
        guard let value = bareItem(), parameters() else { return nil }
        return value
    }

    /// Skips the parameters (§4.2.3.2). Returns `false` at a malformed one.
    private mutating func parameters() -> Bool {
        while cursor.take(";") {
            skipSpaces()
            guard key() != nil else { return false }
            if cursor.take("="), bareItem() == nil { return false }
        }
        return true
    }

    private mutating func innerList() -> Value? {
        guard cursor.take("(") else { return nil }
        while true {
            skipSpaces()
            if cursor.take(")") { return parameters() ? .other : nil }
            guard item() != nil, let next = cursor.peek, next == UInt8(ascii: " ") || next == UInt8(ascii: ")") else {
                return nil
            }
        }
    }

    private mutating func key() -> String? {
        guard let first = cursor.peek, Self.isLowercase(first) || first == UInt8(ascii: "*") else { return nil }
        let key = cursor.takeWhile { Self.isLowercase($0) || ASCII.isDigit($0) || "_-.*".utf8.contains($0) }
        return String(decoding: key, as: UTF8.self)
    }

    private mutating func bareItem() -> Value? {
        guard let first = cursor.peek else { return nil }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: ":"):
            cursor.advance()
            let text = cursor.takeWhile { ASCII.isAlphanumeric($0) || "+/=".utf8.contains($0) }
            return cursor.take(":") ? .bytes(Array(Data(base64Encoded: Data(text)) ?? Data())) : nil
        case UInt8(ascii: "?"):
            cursor.advance()
            if cursor.take("1") { return .boolean(true) }
            return cursor.take("0") ? .boolean(false) : nil
        case UInt8(ascii: "@"):
            cursor.advance()
            if case .integer = number() { return .other }
            return nil
        case UInt8(ascii: "%"):
            cursor.advance()
            return string()
        case _ where ASCII.lowercased(first) &- 0x61 < 26 || first == UInt8(ascii: "*"):
            _ = cursor.takeWhile { ASCII.isToken($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            return .other
        default: return nil
        }
    }

    private mutating func number() -> Value? {
        let isNegative = cursor.take("-")
        let digits = cursor.takeWhile { ASCII.isDigit($0) }
        // At most 15 digits, and 12 before a decimal point (§3.3.1, §3.3.2).
        guard (1...15).contains(digits.count) else { return nil }
        guard cursor.take(".") else {
            let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            return .integer(isNegative ? -value : value)
        }
        let fraction = cursor.takeWhile { ASCII.isDigit($0) }
        return digits.count <= 12 && (1...3).contains(fraction.count) ? .other : nil
    }

    private mutating func string() -> Value? {
        guard cursor.take("\"") else { return nil }
        while let byte = cursor.peek {
            cursor.advance()
            switch byte {
            case UInt8(ascii: "\""): return .other
            case UInt8(ascii: "\\"): if !cursor.take("\""), !cursor.take("\\") { return nil }
            case 0x20...0x7E: break
            default: return nil
            }
        }
        return nil
    }

    private mutating func skipSpaces() { _ = cursor.takeWhile { $0 == UInt8(ascii: " ") } }

    private static func isLowercase(_ byte: UInt8) -> Bool { byte &- 0x61 < 26 }
}
