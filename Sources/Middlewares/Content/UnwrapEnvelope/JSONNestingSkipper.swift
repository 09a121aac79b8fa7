/// Finds the end of a JSON array or object 64 bytes at a time, with bitmaps instead of a branch for each byte.
///
/// A prefix XOR over the quotes marks the bytes inside strings. The few brackets outside strings are then checked in order,
/// because each must close a bracket of the same kind. Only memory limits the nesting depth, at one bit per level.
///
/// The state carried from block to block is a few words, and its methods are inlined, so that it stays in registers.
struct JSONNestingSkipper {
    private let bytes: UnsafeRawBufferPointer
    private var position: Int
    private var strings = Strings()
    private var nesting = Nesting()

    private init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        self.bytes = bytes
        position = start
    }

    /// - Parameter start: the offset of the opening bracket.
    /// - Returns: the offset after the closing bracket.
    static func end(of bytes: UnsafeRawBufferPointer, from start: Int) throws(JSONScanner.Failure) -> Int {
        var skipper = Self(bytes, from: start)
        while skipper.position < bytes.count {
            let isWhole = bytes.count - skipper.position >= JSONBlock.size
            let block =
                isWhole ? JSONBlock(bytes, at: skipper.position) : JSONBlock(lastOf: bytes, from: skipper.position)
            if let end = try skipper.skip(block) { return end }
            skipper.position += JSONBlock.size
        }
        throw JSONScanner.Failure(
            kind: .malformed,
            offset: bytes.count,
            problem: skipper.strings.isOpen ? "a string has no end" : "it ends too early"
        )
    }

    @inline(__always)
    private mutating func skip(_ block: JSONBlock) throws(JSONScanner.Failure) -> Int? {
        let inStrings = strings.bytes(of: block)
        let strayBackslashes = block.backslashes & ~inStrings
        if strayBackslashes != 0 { throw Self.failure(position, strayBackslashes, "a backslash") }
        var brackets = block.brackets & ~inStrings
        while brackets != 0 {
            let offset = position + brackets.trailingZeroBitCount
            let bracket = bytes[offset]
            // Bit 1 alone marks an opening bracket, bit 2 alone a closing one. `Y` and `y` have neither, `_` and DEL both.
            switch bracket & 0b110 {
            case 0b010:
                nesting.open(bracket)
            case 0b100:
                guard nesting.close(bracket) else {
                    let isBrace = bracket == UInt8(ascii: "}")
                    let problem = isBrace ? "a brace that closes a bracket" : "a bracket that closes a brace"
                    throw Self.failure(position, brackets, problem)
                }
                if nesting.isEmpty { return offset + 1 }
            default:
                throw Self.failure(position, brackets, "a letter")
            }
            brackets &= brackets &- 1
        }
        return nil
    }

    private static func failure(_ position: Int, _ bits: UInt64, _ what: String) -> JSONScanner.Failure {
        let offset = position + bits.trailingZeroBitCount
        return JSONScanner.Failure(kind: .malformed, offset: offset, problem: "\(what) is in the wrong place")
    }
}

/// Tracks which bytes lie inside strings, from block to block.
private struct Strings {
    // All ones if the next block begins inside a string.
    private var carried: UInt64 = 0
    // 1 if the next block's first byte is escaped.
    private var escapesNext: UInt64 = 0

    var isOpen: Bool { carried != 0 }

    /// Marks each string from its opening quote up to, but not including, its closing quote.
    @inline(__always)
    mutating func bytes(of block: JSONBlock) -> UInt64 {
        var quotes = block.quotes
        if block.backslashes | escapesNext != 0 { quotes &= ~escaped(by: block.backslashes) }
        let strings = Self.prefixXor(quotes) ^ carried
        carried = UInt64(bitPattern: Int64(bitPattern: strings) >> 63)
        return strings
    }

    /// Marks the bytes that follow an odd number of backslashes.
    @inline(__always)
    private mutating func escaped(by backslashes: UInt64) -> UInt64 {
        let evenBits: UInt64 = 0x5555_5555_5555_5555
        let backslashes = backslashes & ~escapesNext
        let followers = backslashes << 1 | escapesNext
        // Adding a run of backslashes to its own start carries into the bit after its end. Comparing the parity of that bit's
        // position with the parity of the start tells whether the run is odd.
        let oddStarts = backslashes & ~evenBits & ~followers
        let (sums, overflow) = oddStarts.addingReportingOverflow(backslashes)
        escapesNext = overflow ? 1 : 0
        return (evenBits ^ sums << 1) & followers
    }

    /// Replaces each bit with the parity of itself and all lower bits.
    @inline(__always)
    private static func prefixXor(_ word: UInt64) -> UInt64 {
        var parity = word
        parity ^= parity << 1
        parity ^= parity << 2
        parity ^= parity << 4
        parity ^= parity << 8
        parity ^= parity << 16
        parity ^= parity << 32
        return parity
    }
}

/// A stack of open brackets, one bit each: 1 for a brace, 0 for a square bracket.
private struct Nesting {
    // The lowest bit is the innermost bracket; a sentinel bit, always set, sits above the outermost.
    private var innermost: UInt64 = 1
    // Full words that hold the brackets outside those in `innermost`.
    private var outer: [UInt64] = []

    var isEmpty: Bool { innermost == 1 }

    @inline(__always)
    mutating func open(_ bracket: UInt8) {
        if innermost >> 63 != 0 {
            outer.append(innermost)
            innermost = 1
        }
        innermost = innermost << 1 | Self.kind(bracket)
    }

    /// - Returns: whether the innermost open bracket was of the same kind.
    @inline(__always)
    mutating func close(_ bracket: UInt8) -> Bool {
        guard innermost & 1 == Self.kind(bracket) else { return false }
        innermost >>= 1
        if innermost == 1, let full = outer.popLast() { innermost = full }
        return true
    }

    // Bit 5 separates braces from square brackets.
    @inline(__always)
    private static func kind(_ bracket: UInt8) -> UInt64 { UInt64(bracket >> 5 & 1) }
}
