/// Decoding of JSON's scalar values.
enum JSONText {
    /// The bytes of a string with its escapes decoded, or `nil` if an escape is invalid (RFC 8259 §7).
    ///
    /// Half a surrogate pair becomes U+FFFD. All other bytes are copied unchanged.
    ///
    /// - Parameter raw: the bytes between the quotes.
    static func unescaped(_ raw: UnsafeRawBufferPointer) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(raw.count)
        var position = 0
        while position < raw.count {
            guard raw[position] == UInt8(ascii: "\\") else {
                result.append(raw[position])
                position += 1
                continue
            }
            guard position + 1 < raw.count else { return nil }
            if raw[position + 1] == UInt8(ascii: "u") {
                guard let scalar = unescapedScalar(raw, &position) else { return nil }
                result.append(contentsOf: String(scalar).utf8)
            } else {
                guard let byte = unescapedByte(raw[position + 1]) else { return nil }
                result.append(byte)
                position += 2
            }
        }
        return result
    }

    private static func unescapedByte(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    private static func unescapedScalar(_ raw: UnsafeRawBufferPointer, _ position: inout Int) -> Unicode.Scalar? {
        guard let first = unit(raw, at: position) else { return nil }
        position += 6
        if let scalar = Unicode.Scalar(first) { return scalar }
        // Only a high surrogate followed by a low one is a pair. A following unit of any other kind is decoded by itself.
        guard first < 0xDC00, let second = unit(raw, at: position), 0xDC00..<0xE000 ~= second else { return "\u{FFFD}" }
        position += 6
        return Unicode.Scalar(0x1_0000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00)
    }

    private static func unit(_ raw: UnsafeRawBufferPointer, at position: Int) -> UInt16? {
        guard position + 6 <= raw.count, raw[position] == UInt8(ascii: "\\"), raw[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for byte in raw[position + 2..<position + 6] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return unit
    }
}

extension JSONText {
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

    /// The value of a JSON number or string that consists of 1 to 18 digits only.
    static func plainNumber(_ value: UnsafeRawBufferPointer) -> Int? {
        let quotes = value.first == UInt8(ascii: "\"") ? 1 : 0
        guard 1...18 ~= value.count - 2 * quotes else { return nil }
        var number = 0
        for index in quotes..<(value.count - quotes) {
            let digit = value[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
        }
        return number
    }

    private static func string(_ raw: UnsafeRawBufferPointer) -> String {
        guard raw.contains(UInt8(ascii: "\\")), let bytes = unescaped(raw) else {
            return String(decoding: raw, as: UTF8.self)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
