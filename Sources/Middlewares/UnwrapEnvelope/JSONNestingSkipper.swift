/// Finds the end of an array or object: 64 bytes at a time, as bits of words, without a branch for each byte.
///
/// Quotes give, by a prefix sum, the bytes that lie in strings; the brackets that don't are few, and are gone through one
/// by one, because each must close one of its own kind. How deep they nest is limited by memory alone: one bit for each.
///
/// All that changes from block to block is kept in few words and inlined, so that it stays in registers.
struct JSONNestingSkipper {
    private let bytes: UnsafeRawBufferPointer
    private var position: Int
    private var strings = Strings()
    private var nesting = Nesting()

    private init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        self.bytes = bytes
        position = start
    }

    /// - Parameter start: the place of the opening bracket.
    /// - Returns: the place after the closing bracket.
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
            // Of these two bits, one that opens has the lower, one that closes the higher, and a letter both or none.
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
        return JSONScanner.Failure(kind: .malformed, offset: offset, problem: "\(what) stands in the wrong place")
    }
}

/// Which bytes lie in strings, block by block.
private struct Strings {
    // All ones where the next block begins within a string.
    private var carried: UInt64 = 0
    // One where the next block's first byte is escaped.
    private var escapesNext: UInt64 = 0

    var isOpen: Bool { carried != 0 }

    /// The opening quote and what follows it, up to the closing one.
    @inline(__always)
    mutating func bytes(of block: JSONBlock) -> UInt64 {
        var quotes = block.quotes
        if block.backslashes | escapesNext != 0 { quotes &= ~escaped(by: block.backslashes) }
        let strings = Self.prefixXor(quotes) ^ carried
        carried = UInt64(bitPattern: Int64(bitPattern: strings) >> 63)
        return strings
    }

    /// The bytes that stand after an odd number of backslashes.
    @inline(__always)
    private mutating func escaped(by backslashes: UInt64) -> UInt64 {
        let evenBits: UInt64 = 0x5555_5555_5555_5555
        let backslashes = backslashes & ~escapesNext
        let followers = backslashes << 1 | escapesNext
        // A run of backslashes is added to its own start: the carry comes out after its end, at a place whose parity
        // tells, with that of the start, whether the run is odd.
        let oddStarts = backslashes & ~evenBits & ~followers
        let (sums, overflow) = oddStarts.addingReportingOverflow(backslashes)
        escapesNext = overflow ? 1 : 0
        return (evenBits ^ sums << 1) & followers
    }

    /// Each bit becomes the parity of itself and those below it.
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

/// Which brackets are open: a bit for each, one for a brace.
private struct Nesting {
    // The innermost is the lowest; above the outermost stands a bit that is always set.
    private var innermost: UInt64 = 1
    // Full words, of those outside of the innermost.
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

    /// - Returns: whether one of this kind was the last to open.
    @inline(__always)
    mutating func close(_ bracket: UInt8) -> Bool {
        guard innermost & 1 == Self.kind(bracket) else { return false }
        innermost >>= 1
        if innermost == 1, let full = outer.popLast() { innermost = full }
        return true
    }

    // What tells braces from brackets.
    @inline(__always)
    private static func kind(_ bracket: UInt8) -> UInt64 { UInt64(bracket >> 5 & 1) }
}
