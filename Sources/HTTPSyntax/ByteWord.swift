/// Eight bytes tested in parallel.
///
/// Public, because Swift 6.3 inlines no `package` function of another module, `@inlinable` or not; a log entry would take 24 %
/// more instructions. No product contains this module, so users don't see it.
///
/// Each predicate tests all eight bytes; the result is the highest bit of each byte. The other bits of a result are
/// meaningless.
@frozen
public struct ByteWord {
    /// The bytes in memory order.
    public let rawValue: UInt64

    /// Creates a word from eight bytes.
    @inlinable @inline(__always) public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// A word with the same byte in all eight positions.
    @inlinable @inline(__always) public static func all(_ byte: UInt8) -> UInt64 {
        UInt64(byte) &* 0x0101_0101_0101_0101
    }

    /// The bytes without their highest bits. Adding a number up to 0x80 to each of these bytes can't carry into the next byte.
    @inlinable @inline(__always) public var low: UInt64 { rawValue & Self.all(0x7F) }

    /// True for each byte whose lower seven bits are at least `least`, which must be from 1 to 0x80.
    @inlinable @inline(__always) public func isLow(atLeast least: UInt8) -> UInt64 { low &+ Self.all(0x80 &- least) }

    /// True for each byte whose lower seven bits differ from `byte`, an ASCII character.
    @inlinable @inline(__always) public func isLow(otherThan byte: UInt8) -> UInt64 {
        (low ^ Self.all(byte)) &+ Self.all(0x7F)
    }

    /// Whether the predicate holds for any of the bytes. Loads may overlap, so some bytes are tested twice.
    @inlinable @inline(__always)
    public static func contains(in bytes: UnsafeRawBufferPointer, where question: (ByteWord) -> UInt64) -> Bool {
        let count = bytes.count
        var answers: UInt64 = 0
        if count >= 8 {
            var position = 0
            while position < count &- 8 {
                answers |= question(ByteWord(rawValue: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
                position &+= 8
            }
            answers |= question(ByteWord(rawValue: bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)))
        } else if count >= 4 {
            let first = UInt64(bytes.loadUnaligned(as: UInt32.self))
            let last = UInt64(bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
            answers = question(ByteWord(rawValue: first << 32 | last))
        } else if count > 0 {
            let (first, middle, last) = (UInt64(bytes[0]), UInt64(bytes[count / 2]), UInt64(bytes[count &- 1]))
            answers = question(ByteWord(rawValue: (first &* 0x0101_0101_0101_0000) | middle << 8 | last))
        }
        return answers & all(0x80) != 0
    }
}
