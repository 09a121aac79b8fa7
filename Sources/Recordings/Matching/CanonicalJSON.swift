internal import InterceptorsArchives

extension OrderedJSON {
    /// Appends bytes that are equal for equal values: members in the order of their names, and numbers in one spelling.
    ///
    /// Members with one name keep their order, because readers differ in which of them they use.
    func append(to key: inout CanonicalBytes) {
        switch self {
        case .object(let members):
            key.append(UInt8(ascii: "{"))
            for member in Self.ordered(members) {
                key.append(section: member.name.utf8)
                member.value.append(to: &key)
            }
            key.append(UInt8(ascii: "}"))
        case .array(let elements):
            key.append(UInt8(ascii: "["))
            for element in elements { element.append(to: &key) }
            key.append(UInt8(ascii: "]"))
        case .string(let text):
            key.append(UInt8(ascii: "\""))
            key.append(section: text.utf8)
        case .number(let text): key.append(section: Self.canonicalNumber(text).utf8)
        case .bool(let value): key.append(UInt8(ascii: value ? "t" : "f"))
        case .null: key.append(UInt8(ascii: "n"))
        }
    }

    static func ordered(_ members: [Member]) -> [Member] {
        members.enumerated().sorted { left, right in
            let (one, other) = (left.element.name.utf8, right.element.name.utf8)
            return one.elementsEqual(other) ? left.offset < right.offset : one.lexicographicallyPrecedes(other)
        }
        .map(\.element)
    }

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
