internal import CInterceptorsVectors
internal import Foundation
internal import InterceptorsSyntax

/// Finds the values at given key paths in a JSON text (RFC 8259), in one pass and without decoding the text.
///
/// The scanner validates only the objects on the way to the wanted values: names, colons, commas, numbers, literals, and
/// that nothing follows the text. All other values, and the content of the wanted ones, are skipped: the scanner checks only
/// that their brackets match and their strings end. The payload's decoder finds any other error.
///
/// If several members have the same name, the last one counts, as RFC 8259 §4 says most parsers do (`JSONSerialization` does;
/// `JSONDecoder` takes the first). Names are compared byte by byte, after escapes are decoded.
///
/// The recursion is as deep as the longest wanted path, never as deep as the text nests.
struct JSONScanner {
    /// The reason a scan failed, and the offset of the byte where the problem showed.
    struct Failure: Error, Equatable {
        enum Kind: Equatable {
            /// The text doesn't begin like an object.
            case notAnObject
            /// The text begins like an object, then breaks JSON's grammar.
            case malformed
        }

        let kind: Kind
        let offset: Int
        let problem: String
    }

    // A set of paths: bit n is path n.
    private typealias Paths = UInt64

    private let bytes: UnsafeRawBufferPointer
    private let paths: [[UInt8]]
    // One element per path.
    private let found: UnsafeMutableBufferPointer<Range<Int>?>
    private var position = 0

    /// A path such as `data.result`, as ``find(_:in:_:)`` takes it: a dot ends each name. The empty path leads to the whole text.
    static func path(_ names: String) -> [UInt8] { names.isEmpty ? [] : Array(names.utf8) + [UInt8(ascii: ".")] }

    /// Finds the range of the value at each path; `nil` if the text has no such value.
    ///
    /// - Parameters:
    ///   - paths: for each wanted value, the members that lead to it, as ``path(_:)`` writes them; the empty path leads to the
    ///     whole text, less the whitespace and byte order mark around it. At most 63.
    ///   - data: the text, in UTF-8.
    ///   - read: called with the ranges, one per path, counted from the start of the data. No array holds them, because it would
    ///     be an allocation for each response.
    static func find<Value>(
        _ paths: [[UInt8]],
        in data: Data,
        _ read: (UnsafeMutableBufferPointer<Range<Int>?>) -> Value
    ) throws(Failure) -> Value {
        precondition(paths.count < Paths.bitWidth, "At most 63 paths can be found at once.")
        // `withUnsafeBytes` on `Data` rethrows untyped errors, so a failure leaves the closures in a result.
        let result = data.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: Range<Int>?.self, capacity: paths.count) { found in
                found.initialize(repeating: nil)
                var scanner = Self(bytes: bytes, paths: paths, found: found)
                return Result { () throws(Failure) in
                    try scanner.run()
                    return read(found)
                }
            }
        }
        return try result.get()
    }

    private mutating func run() throws(Failure) {
        position = ByteOrderMark.lengthOfUTF8(bytes)
        skipWhitespace()
        guard current == UInt8(ascii: "{") else {
            throw Failure(kind: .notAnObject, offset: position, problem: "it is no object")
        }
        try walkValue(after: 0, matching: 1 &<< Paths(paths.count) - 1)
        skipWhitespace()
        guard position == bytes.count else { throw malformed("something follows the object") }
    }
}

extension JSONScanner {
    /// Scans a value to which the first `length` bytes of the matching paths lead.
    private mutating func walkValue(after length: Int, matching: Paths) throws(Failure) {
        let start = position
        var deeper: Paths = 0
        for path in paths.indices where matching & 1 &<< Paths(path) != 0 {
            // A later member with the same name replaces the earlier one and everything found in it.
            found[path] = nil
            if paths[path].count > length { deeper |= 1 &<< Paths(path) }
        }
        if deeper != 0, current == UInt8(ascii: "{") {
            try walkObject(after: length, matching: deeper)
        } else {
            try skipValue()
        }
        for path in paths.indices where matching & ~deeper & 1 &<< Paths(path) != 0 { found[path] = start..<position }
    }

    private mutating func walkObject(after length: Int, matching: Paths) throws(Failure) {
        position += 1
        skipWhitespace()
        if take("}") { return }
        repeat {
            skipWhitespace()
            let (matched, end) = try walkName(after: length, matching: matching)
            skipWhitespace()
            guard take(":") else { throw malformed("a colon is missing after a name") }
            skipWhitespace()
            try walkValue(after: end, matching: matched)
            skipWhitespace()
        } while take(",")
        guard take("}") else { throw malformed("a comma or a closing brace is missing after a member") }
    }

    /// Scans a member's name. Returns the paths whose next name it is, and the length of these paths up to its end.
    private mutating func walkName(after length: Int, matching: Paths) throws(Failure) -> (Paths, end: Int) {
        guard current == UInt8(ascii: "\"") else { throw malformed("a member's name is missing") }
        let start = position + 1
        let hasEscapes = try skipString()
        let raw = UnsafeRawBufferPointer(rebasing: bytes[start..<position - 1])
        guard hasEscapes else { return narrowed(matching, after: length, name: raw) }
        guard let name = JSONEscapes.decoded(raw) else { return (0, length) }
        return name.withUnsafeBytes { narrowed(matching, after: length, name: $0) }
    }

    private func narrowed(_ matching: Paths, after length: Int, name: UnsafeRawBufferPointer) -> (Paths, end: Int) {
        let end = length + name.count
        var matched: Paths = 0
        for path in paths.indices where matching & 1 &<< Paths(path) != 0 {
            // Nearly all names that differ also differ in length.
            guard end < paths[path].count, paths[path][end] == UInt8(ascii: ".") else { continue }
            if paths[path][length..<end].elementsEqual(name) { matched |= 1 &<< Paths(path) }
        }
        // No path leads to a name with a dot.
        return (matched != 0 && name.contains(UInt8(ascii: ".")) ? 0 : matched, end + 1)
    }
}

extension JSONScanner {
    private mutating func skipValue() throws(Failure) {
        switch current {
        case UInt8(ascii: "{"), UInt8(ascii: "["): position = try Self.endOfNested(bytes, from: position)
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try skipLiteral("true")
        case UInt8(ascii: "f"): try skipLiteral("false")
        case UInt8(ascii: "n"): try skipLiteral("null")
        default: try skipNumber()
        }
    }

    /// Skips a string. Returns whether it has escapes.
    @discardableResult
    private mutating func skipString() throws(Failure) -> Bool {
        let start = position
        var hasEscapes = false
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return hasEscapes
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 2
            default: position += 1
            }
        }
        position = start
        throw malformed("a string has no end")
    }

    /// The end of the array or object at `start`, found 64 bytes at a time, with bitmaps instead of a branch for each byte.
    ///
    /// A prefix XOR over the quotes marks the bytes inside strings. The few brackets outside strings are then checked in order,
    /// because each must close a bracket of the same kind. Only memory limits the nesting depth, at one bit per level.
    static func endOfNested(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(Failure) -> Int {
        // The open brackets: 1 for a brace, 0 for a square bracket, with the innermost in the lowest bit. A sentinel bit, always set,
        // is above the outermost of a word; full words are in the array.
        var (innermost, outer) = (UInt64(1), [UInt64]())
        // All ones if the next block begins inside a string; whether its first byte is escaped.
        var (carried, isEscaped) = (UInt64(0), false)
        for position in stride(from: start, to: bytes.count, by: JSONBlock.size) {
            let block = JSONBlock(bytes, at: position)
            var quotes = block.quotes
            if block.backslashes != 0 || isEscaped { quotes &= ~block.escaped(&isEscaped) }
            let strings = quotes.prefixXor ^ carried
            carried = UInt64(bitPattern: Int64(bitPattern: strings) >> 63)
            // A backslash outside strings is in the wrong place, too.
            var marks = (block.brackets | block.backslashes) & ~strings
            while marks != 0 {
                let offset = position + marks.trailingZeroBitCount
                let byte = bytes[offset]
                marks &= marks &- 1
                switch byte {
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    if innermost >> 63 == 1 {
                        outer.append(innermost)
                        innermost = 1
                    }
                    // Bit 5 separates braces from square brackets.
                    innermost = innermost << 1 | UInt64(byte >> 5 & 1)
                case UInt8(ascii: "}") where innermost & 1 == 1, UInt8(ascii: "]") where innermost & 1 == 0:
                    innermost >>= 1
                    guard innermost == 1 else { continue }
                    guard let full = outer.popLast() else { return offset + 1 }
                    innermost = full
                default:
                    let problem = "a bracket, a backslash or a letter is in the wrong place"
                    throw Failure(kind: .malformed, offset: offset, problem: problem)
                }
            }
        }
        let problem = carried != 0 ? "a string has no end" : "it ends too early"
        throw Failure(kind: .malformed, offset: bytes.count, problem: problem)
    }

    private mutating func skipLiteral(_ literal: String) throws(Failure) {
        for byte in literal.utf8 {
            guard current == byte else { throw malformed("a value is misspelled") }
            position += 1
        }
    }

    // RFC 8259 §6. The caller, which expects a comma or an end, rejects a wrong character after the number.
    private mutating func skipNumber() throws(Failure) {
        take("-")
        if !take("0") { try skipDigits() }
        if take(".") { try skipDigits() }
        if take("e") || take("E") {
            if !take("+") { take("-") }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(Failure) {
        let start = position
        while ASCII.isDigit(current) { position += 1 }
        if position == start { throw malformed("a value is missing or misspelled") }
    }

    private mutating func skipWhitespace() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { position += 1 }
    }

    /// The current byte; at the end NUL, which JSON's grammar doesn't allow.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    /// Skips a byte if it comes next. Returns whether it did.
    @discardableResult
    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private func malformed(_ problem: String) -> Failure {
        let problem = position < bytes.count ? problem : "it ends too early"
        return Failure(kind: .malformed, offset: position, problem: problem)
    }
}

/// The quotes, backslashes and brackets of 64 bytes of JSON: one bitmap each, with the first byte in the lowest bit. Zeros follow the
/// end of the text.
private struct JSONBlock {
    static let size = 64

    let quotes: UInt64
    let backslashes: UInt64
    /// Brackets and braces, and four other bytes (`Y`, `_`, `y`, DEL) that valid JSON only has inside strings.
    let brackets: UInt64

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        guard bytes.count - start >= Self.size else {
            self = withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 16) { block in
                block.initializeMemory(as: UInt8.self, repeating: 0)
                block.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start...]))
                return Self(whole: UnsafeRawPointer(block.baseAddress.unsafelyUnwrapped))
            }
            return
        }
        self.init(whole: bytes.baseAddress.unsafelyUnwrapped + start)
    }

    @inline(__always)
    private init(whole block: UnsafeRawPointer) {
        quotes = cvectors_equal(block, 0, UInt8(ascii: "\""))
        backslashes = cvectors_equal(block, 0, UInt8(ascii: "\\"))
        // Each of the four brackets becomes 0x7F when the bits of 0x26 are set; the four other bytes do too.
        brackets = cvectors_equal(block, 0x26, 0x7F)
    }

    /// Marks the bytes that are escaped.
    ///
    /// - Parameter isFirst: whether the first byte is escaped; afterwards, whether that of the next block is.
    func escaped(_ isFirst: inout Bool) -> UInt64 {
        var escaped: UInt64 = isFirst ? 1 : 0
        var rest = backslashes & ~escaped
        isFirst = false
        while rest != 0 {
            let backslash = rest & (0 &- rest)
            isFirst = backslash >> 63 == 1
            escaped |= backslash << 1
            rest &= ~(backslash | backslash << 1)
        }
        return escaped
    }
}

extension UInt64 {
    /// The word with each bit replaced by the parity of itself and all lower bits.
    fileprivate var prefixXor: UInt64 {
        var parity = self
        for shift: UInt64 in [1, 2, 4, 8, 16, 32] { parity ^= parity &<< shift }
        return parity
    }
}
