package import Foundation
internal import InterceptorsSyntax

/// A JSON value that keeps the order of members, duplicates and the digits of numbers.
///
/// A file that people read begins with what matters, and an archive of another program keeps what it says.
package enum OrderedJSON: Sendable {
    package typealias Member = (name: String, value: OrderedJSON)

    case object([Member])
    case array([OrderedJSON])
    case string(String)
    /// A number as it is written.
    case number(String)
    case bool(Bool)
    case null

    package static func integer(_ value: some BinaryInteger) -> Self { .number(String(value)) }

    /// A number of microseconds, written as milliseconds with up to three decimals. Sums of such numbers are exact.
    package static func milliseconds(microseconds: Int64) -> Self {
        let (whole, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000)
        let sign = microseconds < 0 ? "-" : ""
        guard rest > 0 else { return .number(sign + String(whole)) }
        var decimals = String(rest + 1_000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return .number("\(sign)\(whole).\(decimals)")
    }

    /// The last member with a name, as in most parsers; `nil` for any other value.
    package subscript(_ name: String) -> OrderedJSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The JSON text in UTF-8.
    package func data() -> Data {
        var writer = JSONWriter()
        writer.write(self)
        return Data(writer.bytes)
    }

    /// The JSON text in UTF-8 with line breaks, for a file that a person edits and a version control system compares.
    ///
    /// A short object or array that holds neither takes one line, such as a header field.
    package func prettyData() -> Data {
        var writer = JSONWriter(isSpaced: true)
        writer.write(self, indent: 0)
        writer.bytes.append(UInt8(ascii: "\n"))
        return Data(writer.bytes)
    }

    fileprivate var isShortScalar: Bool {
        switch self {
        case .object(let members): members.isEmpty
        case .array(let elements): elements.isEmpty
        case .string(let text): text.utf8.count <= JSONWriter.lineLength
        case .number, .bool, .null: true
        }
    }
}

extension OrderedJSON: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    /// An object; members with the value `nil` are left out.
    package init(dictionaryLiteral elements: (String, OrderedJSON?)...) {
        self = .object(elements.compactMap { name, value in value.map { (name, $0) } })
    }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: OrderedJSON...) { self = .array(elements) }
}

private struct JSONWriter {
    static let lineLength = 110

    /// Whether a space follows each comma and colon of a line.
    var isSpaced = false
    var bytes: [UInt8] = []

    /// Writes a value.
    ///
    /// - Parameter indent: the depth of the value, whose members and elements get lines by themselves, except where a line holds
    ///   all of them; `nil` writes one line.
    mutating func write(_ json: OrderedJSON, indent: Int? = nil) {
        switch json {
        case .object(let members):
            if indent != nil, members.allSatisfy({ $0.value.isShortScalar }), writeOnOneLine(json) { return }
            list(members, "{", "}", indent) { writer, member, indent in
                writer.write(string: member.name)
                writer.bytes += writer.isSpaced ? ": ".utf8 : ":".utf8
                writer.write(member.value, indent: indent)
            }
        case .array(let elements):
            if indent != nil, elements.allSatisfy(\.isShortScalar), writeOnOneLine(json) { return }
            list(elements, "[", "]", indent) { $0.write($1, indent: $2) }
        case .string(let text): write(string: text)
        case .number(let number): bytes += number.utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .null: bytes += "null".utf8
        }
    }

    /// Takes back what it wrote, and returns `false`, if that is too long.
    private mutating func writeOnOneLine(_ json: OrderedJSON) -> Bool {
        let start = bytes.count
        write(json)
        if bytes.count - start <= Self.lineLength { return true }
        bytes.removeSubrange(start...)
        return false
    }

    private mutating func list<Element>(
        _ elements: [Element],
        _ opening: Unicode.Scalar,
        _ closing: Unicode.Scalar,
        _ indent: Int?,
        _ write: (inout Self, Element, _ indent: Int?) -> Void
    ) {
        bytes.append(UInt8(ascii: opening))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes += isSpaced && indent == nil ? ", ".utf8 : ",".utf8 }
            let inner = indent.map { $0 + 1 }
            breakLine(inner)
            write(&self, element, inner)
        }
        breakLine(indent)
        bytes.append(UInt8(ascii: closing))
    }

    private mutating func breakLine(_ indent: Int?) {
        guard let indent else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * indent)
    }

    private mutating func write(string text: String) {
        bytes.append(UInt8(ascii: "\""))
        bytes += JSONEscapes.encoded(Array(text.utf8))
        bytes.append(UInt8(ascii: "\""))
    }
}

extension Duration {
    /// Whole microseconds, rounded down, within some 30,000 years.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit: Int64 = 1_000_000_000_000
        return min(max(seconds, -limit), limit) * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
