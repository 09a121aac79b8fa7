/// 64 bytes of JSON as three words with a bit for each byte, the first byte's the lowest.
struct JSONBlock {
    private(set) var quotes: UInt64 = 0
    private(set) var backslashes: UInt64 = 0
    /// Brackets and braces, and four bytes besides (`Y`, `_`, `y`, DEL) that never stand outside of strings.
    private(set) var brackets: UInt64 = 0

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        var anyBackslash: UInt64 = 0
        for word in 0..<8 {
            add(bytes.loadUnaligned(fromByteOffset: start + word * 8, as: UInt64.self), at: word, &anyBackslash)
        }
        guard anyBackslash != 0 else { return }
        for word in 0..<8 {
            let eight = bytes.loadUnaligned(fromByteOffset: start + word * 8, as: UInt64.self)
            backslashes |= JSONBytes.bits(JSONBytes.backslashes(UInt64(littleEndian: eight))) << UInt64(word * 8)
        }
    }

    /// Fewer than 64 bytes, the last there are.
    init(lastOf bytes: UnsafeRawBufferPointer, from start: Int) {
        self = withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { block in
            block.initializeMemory(as: UInt8.self, repeating: 0)
            block.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start...]))
            return Self(UnsafeRawBufferPointer(block), at: 0)
        }
    }

    @inline(__always)
    private mutating func add(_ loaded: UInt64, at word: Int, _ anyBackslash: inout UInt64) {
        let eight = UInt64(littleEndian: loaded)
        quotes |= JSONBytes.bits(JSONBytes.quotes(eight)) << UInt64(word * 8)
        brackets |= JSONBytes.bits(JSONBytes.brackets(eight)) << UInt64(word * 8)
        anyBackslash |= JSONBytes.backslashes(eight)
    }
}

/// Eight bytes at once, in a word: a comparison sets the highest bit of each byte that meets it, and no other bit.
enum JSONBytes {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let lows: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    static func quotes(_ word: UInt64) -> UInt64 { equal(word, ones &* 0x22) }

    @inline(__always)
    static func backslashes(_ word: UInt64) -> UInt64 { equal(word, ones &* 0x5C) }

    // The four brackets are what is left of 0x7F when some of the bits of 0x26 are missing.
    @inline(__always)
    static func brackets(_ word: UInt64) -> UInt64 {
        ((word & lows | ones &* 0x26) &+ ones) & ~word & highs
    }

    // The low seven bits plus 0x7F carry into the eighth unless they are zero; no carry leaves its byte.
    @inline(__always)
    private static func equal(_ word: UInt64, _ wanted: UInt64) -> UInt64 {
        ~(((word & lows) ^ wanted) &+ lows) & ~word & highs
    }

    /// Gathers the highest bits of eight bytes in the lowest byte: no two terms of the product meet in one bit.
    @inline(__always)
    static func bits(_ comparison: UInt64) -> UInt64 { (comparison &* 0x0002_0408_1020_4081) >> 56 }

    /// Each bit becomes the parity of itself and those below it.
    @inline(__always)
    static func prefixXor(_ word: UInt64) -> UInt64 {
        var parity = word
        parity ^= parity << 1
        parity ^= parity << 2
        parity ^= parity << 4
        parity ^= parity << 8
        parity ^= parity << 16
        parity ^= parity << 32
        return parity
    }

    static func firstQuoteOrBackslash(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start
        while bytes.count - position >= 8 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let hits = quotes(word) | backslashes(word)
            if hits != 0 { return position + hits.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "\\") { return position }
            position += 1
        }
        return nil
    }
}
