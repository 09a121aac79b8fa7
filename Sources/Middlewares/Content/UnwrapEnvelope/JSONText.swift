internal import InterceptorsSyntax

/// Decoding of JSON's scalar values.
enum JSONText {
    /// The text of a string, number or boolean; `nil` for `null`, objects and arrays.
    ///
    /// A string with an invalid escape is returned with all its escapes undecoded; invalid UTF-8 becomes U+FFFD.
    static func scalar(_ value: UnsafeRawBufferPointer) -> String? {
        switch value.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "n"), nil: nil
        case UInt8(ascii: "\""): string(UnsafeRawBufferPointer(rebasing: value.dropFirst().dropLast()))
        default: String(decoding: value, as: UTF8.self)
        }
    }

    /// The content of a scalar, or the JSON text of an object or array; `nil` for `null`.
    static func text(of value: UnsafeRawBufferPointer) -> String? {
        switch value.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): String(decoding: value, as: UTF8.self)
        default: scalar(value)
        }
    }

    /// The value of a JSON number, if it is whole, fits in an `Int` and lost no digits in the conversion.
    static func wholeNumber(_ text: String) -> Int? {
        if let number = Int(text) { return number }
        guard let number = Double(text), number.magnitude <= 0x1p53 else { return nil }
        return Int(exactly: number)
    }

    private static func string(_ raw: UnsafeRawBufferPointer) -> String {
        guard raw.contains(UInt8(ascii: "\\")), let bytes = JSONEscapes.decoded(raw) else {
            return String(decoding: raw, as: UTF8.self)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
