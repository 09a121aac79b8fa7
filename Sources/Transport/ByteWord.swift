/// Eight bytes that are looked at in a step.
///
/// A question is arithmetic on all of them, whose answer is the highest bit of each byte.
struct ByteWord {
    let rawValue: UInt64

    /// The same byte eight times.
    @inline(__always) static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// The bytes without their highest bits: a sum of one of these and a number up to 0x80 carries no further than that bit.
    @inline(__always) var low: UInt64 { rawValue & Self.all(0x7F) }

    /// Yes for what is at least this, from 1 to 0x80, of the bytes without their highest bits.
    @inline(__always) func isLow(atLeast least: UInt8) -> UInt64 { low &+ Self.all(0x80 &- least) }

    /// No for this byte of ASCII, and for it with the highest bit.
    @inline(__always) func isLow(otherThan byte: UInt8) -> UInt64 { (low ^ Self.all(byte)) &+ Self.all(0x7F) }

    /// Whether the answer to a question is yes for one of the bytes. Some may be asked about twice.
    @inline(__always)
    static func contains(in bytes: UnsafeRawBufferPointer, where question: (ByteWord) -> UInt64) -> Bool {
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
