/// Finds the end of an array or object: 64 bytes at a time, as bits of words, without a branch for each byte.
///
/// Quotes give, by a prefix sum, the bytes that lie in strings; the brackets that don't are few, and are gone through one
/// by one, because each must close one of its own kind. How deep they nest is limited by memory alone: one bit for each.
struct JSONNestingSkipper {
    private let bytes: UnsafeRawBufferPointer
    private var position: Int
    // All ones where the next block begins within a string.
    private var inString: UInt64 = 0
    // One where the next block's first byte is escaped.
    private var escapesNext: UInt64 = 0
    private var nesting = Nesting()

    /// - Parameter start: the place of the opening bracket.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        self.bytes = bytes
        position = start
    }

    /// - Returns: the place after the closing bracket.
    mutating func run() throws(JSONScanner.Failure) -> Int {
        while bytes.count - position >= 64 {
            if let end = try skip(JSONBlock(bytes, at: position)) { return end }
            position += 64
        }
        if position < bytes.count, let end = try skip(JSONBlock(lastOf: bytes, from: position)) { return end }
        throw JSONScanner.Failure(
            kind: .malformed,
            offset: bytes.count,
            problem: inString == 0 ? "it ends too early" : "a string has no end"
        )
    }

    @inline(__always)
    private mutating func skip(_ block: JSONBlock) throws(JSONScanner.Failure) -> Int? {
        var quotes = block.quotes
        if block.backslashes | escapesNext != 0 { quotes &= ~escaped(by: block.backslashes) }
        let strings = JSONBytes.prefixXor(quotes) ^ inString
        if block.backslashes & ~strings != 0 { throw failure(at: block.backslashes & ~strings, "a backslash") }
        inString = UInt64(bitPattern: Int64(bitPattern: strings) >> 63)
        var brackets = block.brackets & ~strings
        while brackets != 0 {
            let offset = position + brackets.trailingZeroBitCount
            switch bytes[offset] {
            case UInt8(ascii: "{"): nesting.open(1)
            case UInt8(ascii: "["): nesting.open(0)
            case UInt8(ascii: "}"):
                guard nesting.close(1) else { throw failure(at: brackets, "a brace that closes a bracket") }
            case UInt8(ascii: "]"):
                guard nesting.close(0) else { throw failure(at: brackets, "a bracket that closes a brace") }
            default:
                throw failure(at: brackets, "a letter")
            }
            if nesting.isEmpty { return offset + 1 }
            brackets &= brackets - 1
        }
        return nil
    }

    /// The bytes that stand after an odd number of backslashes.
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

    private func failure(at bits: UInt64, _ what: String) -> JSONScanner.Failure {
        let offset = position + bits.trailingZeroBitCount
        return JSONScanner.Failure(kind: .malformed, offset: offset, problem: "\(what) stands in the wrong place")
    }
}

/// Which brackets are open: a bit for each, one for a brace.
private struct Nesting {
    private var innermost: UInt64 = 0
    private var count = 0
    // Each full word of those outside the innermost.
    private var outer: [UInt64] = []

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    mutating func open(_ kind: UInt64) {
        if count & 63 == 0, count > 0 { outer.append(innermost) }
        innermost = innermost << 1 | kind
        count += 1
    }

    /// - Returns: whether one of this kind was the last to open.
    @inline(__always)
    mutating func close(_ kind: UInt64) -> Bool {
        guard innermost & 1 == kind else { return false }
        innermost >>= 1
        count -= 1
        if count & 63 == 0, count > 0 { innermost = outer.removeLast() }
        return true
    }
}
