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
    static let mostPaths = UInt64.bitWidth

    private let bytes: UnsafeRawBufferPointer
    private let paths: JSONPaths
    // One element per path.
    private let found: UnsafeMutableBufferPointer<Range<Int>?>
    private var position = 0

    /// Finds the range of the value at each path; `nil` if the text has no such value.
    ///
    /// - Parameters:
    ///   - paths: for each wanted value, the names of the members that lead to it; without a name, the whole text, less the
    ///     whitespace and byte order mark around it. At most ``mostPaths``.
    ///   - bytes: the text, in UTF-8. The caller owns the memory.
    ///   - places: one element per path. The caller owns the memory, which is initialised even if this throws.
    static func find(
        _ paths: JSONPaths,
        in bytes: UnsafeRawBufferPointer,
        _ places: UnsafeMutableBufferPointer<Range<Int>?>
    ) throws(Failure) {
        precondition(paths.count <= mostPaths, "At most \(mostPaths) paths can be found at once.")
        precondition(places.count == paths.count, "Each path has one place.")
        places.initialize(repeating: nil)
        var scanner = Self(bytes: bytes, paths: paths, found: places)
        try scanner.run()
    }

    private mutating func run() throws(Failure) {
        position = ByteOrderMark.lengthOfUTF8(bytes)
        skipWhitespace()
        guard current == UInt8(ascii: "{") else {
            throw Failure(kind: .notAnObject, offset: position, problem: "it is no object")
        }
        try walkValue(level: 0, matching: paths.count == 0 ? 0 : .max >> Paths(Self.mostPaths - paths.count))
        skipWhitespace()
        guard position == bytes.count else { throw malformed("something follows the object") }
    }
}

extension JSONScanner {
    /// Scans a value reached through the first `level` names of the matching paths.
    private mutating func walkValue(level: Int, matching: Paths) throws(Failure) {
        let start = position
        var ending: Paths = 0
        var rest = matching
        while let path = Self.next(in: &rest) {
            // A later member with the same name replaces the earlier one and everything found in it.
            found[path] = nil
            if paths.length(of: path) == level { ending |= 1 &<< Paths(path) }
        }
        if matching != ending, current == UInt8(ascii: "{") {
            try walkObject(level: level, matching: matching & ~ending)
        } else {
            try skipValue()
        }
        while let path = Self.next(in: &ending) { found[path] = start..<position }
    }

    /// Removes one path from a set and returns it.
    @inline(__always)
    private static func next(in paths: inout Paths) -> Int? {
        guard paths != 0 else { return nil }
        defer { paths &= paths &- 1 }
        return paths.trailingZeroBitCount
    }

    private mutating func walkObject(level: Int, matching: Paths) throws(Failure) {
        position += 1
        skipWhitespace()
        if current == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            let matched = try walkName(level: level, matching: matching)
            skipWhitespace()
            guard current == UInt8(ascii: ":") else { throw malformed("a colon is missing after a name") }
            position += 1
            skipWhitespace()
            try walkValue(level: level + 1, matching: matched)
            skipWhitespace()
            switch current {
            case UInt8(ascii: ","):
                position += 1
                skipWhitespace()
            case UInt8(ascii: "}"):
                position += 1
                return
            default:
                throw malformed("a comma or a closing brace is missing after a member")
            }
        }
    }

    /// Scans a member's name and returns the paths whose next name it is.
    private mutating func walkName(level: Int, matching: Paths) throws(Failure) -> Paths {
        guard current == UInt8(ascii: "\"") else { throw malformed("a member's name is missing") }
        let start = position + 1
        let hasEscapes = try skipString()
        let raw = UnsafeRawBufferPointer(rebasing: bytes[start..<position - 1])
        guard hasEscapes else { return narrowed(matching, level: level, name: raw) }
        guard let name = JSONEscapes.decoded(raw) else { return 0 }
        return name.withUnsafeBytes { narrowed(matching, level: level, name: $0) }
    }

    private func narrowed(_ matching: Paths, level: Int, name: UnsafeRawBufferPointer) -> Paths {
        var matched: Paths = 0
        var rest = matching
        while let path = Self.next(in: &rest) {
            if paths.isName(of: path, level: level, name) { matched |= 1 &<< Paths(path) }
        }
        return matched
    }
}

extension JSONScanner {
    private mutating func skipValue() throws(Failure) {
        switch current {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            position = try JSONNestingSkipper.end(of: bytes, from: position)
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try skipLiteral("true")
        case UInt8(ascii: "f"): try skipLiteral("false")
        case UInt8(ascii: "n"): try skipLiteral("null")
        default: try skipNumber()
        }
    }

    /// - Returns: whether the string contains escapes.
    @discardableResult
    private mutating func skipString() throws(Failure) -> Bool {
        let start = position
        var hasEscapes = false
        position += 1
        while let next = JSONBytes.firstQuoteOrBackslash(in: bytes, from: position) {
            guard bytes[next] == UInt8(ascii: "\\") else {
                position = next + 1
                return hasEscapes
            }
            hasEscapes = true
            position = next + 2
        }
        position = start
        throw malformed("a string has no end")
    }

    private mutating func skipLiteral(_ literal: StaticString) throws(Failure) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard current == literal.utf8Start[index] else { throw malformed("a value is misspelled") }
            position += 1
        }
    }

    // RFC 8259 §6. The caller, which expects a comma or an end, rejects a wrong character after the number.
    private mutating func skipNumber() throws(Failure) {
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") { position += 1 } else { try skipDigits() }
        if current == UInt8(ascii: ".") {
            position += 1
            try skipDigits()
        }
        if current | 0x20 == UInt8(ascii: "e") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(Failure) {
        let start = position
        while current &- UInt8(ascii: "0") < 10 { position += 1 }
        if position == start { throw malformed("a value is missing or misspelled") }
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    /// The current byte; at the end NUL, which JSON's grammar doesn't allow.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private func malformed(_ problem: String) -> Failure {
        let problem = position < bytes.count ? problem : "it ends too early"
        return Failure(kind: .malformed, offset: position, problem: problem)
    }
}
