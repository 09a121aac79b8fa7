internal import Foundation

/// Facts about bytes that HTTP's grammar needs (RFC 9110 §5.6, RFC 5234). The functions that
/// hot loops use are public, so that they are inlined: see ``ByteWord``.
public enum ASCII {
    /// The byte in lower case if it is an ASCII letter; otherwise the byte itself.
    @inlinable
    public static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether a token may contain the byte (RFC 9110 §5.6.2).
    @inlinable
    public static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether the text is a token: not empty, and made of token bytes only.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isToken($0) }
    }

    /// Whether two texts have the same bytes. `==` follows Unicode equivalence, so it equates a precomposed letter with the
    /// letter and its combining accent. For credentials and field values, which servers read as bytes, the two differ.
    package static func isSame(_ left: String, _ right: String) -> Bool {
        let isSame = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right in holdSame(left, right) }
        }
        return (isSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
    }

    // `memcmp` compares many bytes at once; `elementsEqual` compares them one by one.
    private static func holdSame(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return left.isEmpty }
        return leftStart == rightStart || memcmp(leftStart, rightStart, left.count) == 0
    }

    /// Whether two texts differ only in the case of ASCII letters.
    package static func equalIgnoringCase(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    /// Whether the byte is a decimal digit.
    @inlinable
    public static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Whether the byte is an ASCII letter or digit.
    @inlinable
    public static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10
    }

    /// Whether any byte is a control character other than tab.
    @inlinable
    public static func hasControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
        ByteWord.contains(in: bytes) { word in
            let isBeforeSpace = ~word.isLow(atLeast: 0x20) & word.isLow(otherThan: 0x09)
            return (isBeforeSpace | word.isLow(atLeast: 0x7F)) & ~word.rawValue
        }
    }

    /// The value of a hexadecimal digit; `nil` for any other byte.
    @inlinable
    public static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }
}
