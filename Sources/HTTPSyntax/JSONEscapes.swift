/// The escapes of JSON's strings (RFC 8259 §7).
package enum JSONEscapes {
    /// The bytes of a string with a quote, a backslash and each control character escaped.
    package static func encoded(_ text: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.count)
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): escaped += [UInt8(ascii: "\\"), byte]
            case 0x0A: escaped += "\\n".utf8
            case 0x0D: escaped += "\\r".utf8
            case 0x09: escaped += "\\t".utf8
            case 0..<0x20: escaped += "\\u00".utf8 + Hexadecimal.digits(of: byte, .lowerCase)
            default: escaped.append(byte)
            }
        }
        return escaped
    }

    /// The bytes of a string with its escapes decoded, or `nil` if an escape is invalid.
    ///
    /// Half a surrogate pair becomes U+FFFD. All other bytes are copied unchanged.
    ///
    /// - Parameters:
    ///   - raw: the bytes between the quotes.
    ///   - isLenient: whether an invalid escape stands for the byte after its backslash, so that the result is never `nil`.
    package static func decoded(_ raw: UnsafeRawBufferPointer, isLenient: Bool = false) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(raw.count)
        var position = 0
        while position < raw.count {
            let byte = raw[position]
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                position += 1
                continue
            }
            if let scalar = takeScalar(raw, &position) {
                result.append(contentsOf: String(scalar).utf8)
            } else if position + 1 < raw.count, let byte = character(raw[position + 1], isLenient: isLenient) {
                result.append(byte)
                position += 2
            } else {
                guard isLenient else { return nil }
                result.append(byte)
                position += 1
            }
        }
        return result
    }

    private static func character(_ letter: UInt8, isLenient: Bool) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: isLenient ? letter : nil
        }
    }

    /// Takes the scalar of one `\uXXXX`, or of a surrogate pair. Takes nothing and returns `nil` if no such escape comes next.
    private static func takeScalar(_ raw: UnsafeRawBufferPointer, _ position: inout Int) -> Unicode.Scalar? {
        guard let first = unit(raw, at: position) else { return nil }
        position += 6
        if let scalar = Unicode.Scalar(first) { return scalar }
        // Only a high surrogate followed by a low one is a pair. A following unit of any other kind is decoded by itself.
        guard UTF16.isLeadSurrogate(first), let second = unit(raw, at: position), UTF16.isTrailSurrogate(second) else {
            return "\u{FFFD}"
        }
        position += 6
        return Unicode.Scalar(0x1_0000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00)
    }

    private static func unit(_ raw: UnsafeRawBufferPointer, at position: Int) -> UInt16? {
        guard position + 6 <= raw.count, raw[position] == UInt8(ascii: "\\"), raw[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for byte in raw[position + 2..<position + 6] {
            guard let digit = ASCII.hexadecimalValue(byte) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
