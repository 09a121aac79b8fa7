internal import InterceptorsArchives

extension OrderedJSON {
    /// The same value with members in the order of their names, and numbers in one spelling. Equal values have equal text then.
    ///
    /// Members with one name keep their order, because readers differ in which of them they use.
    var canonical: OrderedJSON {
        switch self {
        case .object(let members): .object(members.ordered { $0.name }.map { ($0.name, $0.value.canonical) })
        case .array(let elements): .array(elements.map(\.canonical))
        case .number(let text): .number(Self.canonicalNumber(text))
        case .string, .bool, .null: self
        }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The digits without zeros at their ends, and the power of ten of the last one: `1.50`, `15e-1` and `0.15E+1` are `15e-1`.
    ///
    /// No conversion to a floating-point number is involved, so that long identifiers stay different.
    static func canonicalNumber(_ text: String) -> String {
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let mantissa = parts[0].drop { $0 == UInt8(ascii: "-") }
            .split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = mantissa.count > 1 ? Array(mantissa[1]) : []
        var digits = Array((Array(mantissa[0]) + fraction).drop { $0 == UInt8(ascii: "0") })
        guard !digits.isEmpty else { return "0" }
        // An exponent that doesn't fit is kept as it is written.
        guard let written = parts.count > 1 ? Int64(String(decoding: parts[1], as: UTF8.self)) : 0,
            written.magnitude < 1 << 40
        else { return text }
        var exponent = written - Int64(fraction.count)
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        return (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + "e\(exponent)"
    }
}

extension Array {
    /// The elements in the order of the bytes of their texts. Elements with one text keep their order.
    func ordered(by text: (Element) -> String) -> [Element] {
        sorted { text($0).utf8.lexicographicallyPrecedes(text($1).utf8) }
    }
}
