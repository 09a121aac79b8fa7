internal import CVectors

/// 64 bytes of JSON as three words with a bit for each byte, the first byte's the lowest.
struct JSONBlock {
    static let size = 64

    private(set) var quotes: UInt64
    private(set) var backslashes: UInt64
    /// Brackets and braces, and four bytes besides (`Y`, `_`, `y`, DEL) that never stand outside of strings.
    private(set) var brackets: UInt64

    /// - Precondition: 64 bytes begin there.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        quotes = JSONBytes.quotes(bytes, at: start)
        backslashes = JSONBytes.backslashes(bytes, at: start)
        brackets = JSONBytes.brackets(bytes, at: start)
    }

    /// Fewer than 64 bytes, the last there are: as if zeros followed.
    init(lastOf bytes: UnsafeRawBufferPointer, from start: Int) {
        guard bytes.count < Self.size else {
            self.init(bytes, at: bytes.count - Self.size)
            let before = UInt64(start - (bytes.count - Self.size))
            quotes >>= before
            backslashes >>= before
            brackets >>= before
            return
        }
        self = withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 16) { block in
            block.initializeMemory(as: UInt8.self, repeating: 0)
            block.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start...]))
            return Self(UnsafeRawBufferPointer(block), at: 0)
        }
    }
}

/// 64 bytes at once: a bit for each, one where it is what is asked for.
enum JSONBytes {
    @inline(__always)
    static func quotes(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64 {
        equal(bytes, start, 0, UInt8(ascii: "\""))
    }

    @inline(__always)
    static func backslashes(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64 {
        equal(bytes, start, 0, UInt8(ascii: "\\"))
    }

    // The four brackets are what is left of 0x7F when some of the bits of 0x26 are missing.
    @inline(__always)
    static func brackets(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64 { equal(bytes, start, 0x26, 0x7F) }

    @inline(__always)
    private static func equal(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ mask: UInt8, _ wanted: UInt8) -> UInt64 {
        assert(start >= 0 && bytes.count - start >= JSONBlock.size)
        return cvectors_equal(bytes.baseAddress.unsafelyUnwrapped + start, mask, wanted)
    }

    /// Of eight bytes: the highest bit of each that is one of the two.
    @inline(__always)
    private static func quotesAndBackslashes(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let lows = ones &* 0x7F
        let (quote, backslash) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
        // What is left of a byte that is none of them carries into its highest bit, or has that.
        let isNoQuote = ((quote & lows) &+ lows) | quote
        let isNoBackslash = ((backslash & lows) &+ lows) | backslash
        return ~(isNoQuote & isNoBackslash) & (ones &* 0x80)
    }

    static func firstQuoteOrBackslash(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start
        while bytes.count - position >= JSONBlock.size {
            let hits = quotes(bytes, at: position) | backslashes(bytes, at: position)
            if hits != 0 { return position + hits.trailingZeroBitCount }
            position += JSONBlock.size
        }
        while bytes.count - position >= 8 {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let hits = quotesAndBackslashes(UInt64(littleEndian: word))
            if hits != 0 { return position + hits.trailingZeroBitCount / 8 }
            position += 8
        }
        return (min(position, bytes.count)..<bytes.count).first {
            bytes[$0] == UInt8(ascii: "\"") || bytes[$0] == UInt8(ascii: "\\")
        }
    }
}
