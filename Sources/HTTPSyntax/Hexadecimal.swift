/// Hexadecimal digits.
public enum Hexadecimal {
    /// Which letters stand for ten to fifteen.
    @frozen
    public enum Letters: Sendable {
        /// `a` to `f`.
        case lowerCase
        /// `A` to `F`.
        case upperCase
    }

    /// The two digits of a byte, in ASCII.
    package static func digits(of byte: UInt8, _ letters: Letters) -> [UInt8] {
        [digit(byte >> 4, letters), digit(byte & 15, letters)]
    }

    /// The digit of a value below 16, in ASCII.
    @inlinable @inline(__always)
    public static func digit(_ value: UInt8, _ letters: Letters) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: letters == .lowerCase ? "a" : "A") + value - 10
    }
}

extension FixedWidthInteger {
    /// The bytes of the number, the highest first.
    package var bigEndianBytes: [UInt8] { Swift.withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// The number in lower-case hexadecimal, with as many digits as its type has.
    package var hexadecimal: String { Swift.withUnsafeBytes(of: bigEndian) { $0.hexadecimal } }
}

extension Collection<UInt8> {
    /// The bytes as lower-case hexadecimal, two digits each.
    package var hexadecimal: String { hexadecimal(after: "") }

    /// A prefix, and after it the bytes as lower-case hexadecimal, two digits each.
    package func hexadecimal(after prefix: String) -> String {
        let length = prefix.utf8.count + 2 * count
        return String(unsafeUninitializedCapacity: length) { text in
            var index = text[...].initialize(fromContentsOf: prefix.utf8)
            for byte in self {
                text[index] = Hexadecimal.digit(byte >> 4, .lowerCase)
                text[index + 1] = Hexadecimal.digit(byte & 15, .lowerCase)
                index += 2
            }
            return length
        }
    }
}
