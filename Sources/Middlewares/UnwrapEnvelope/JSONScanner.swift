/// Finds where the values at wanted key paths stand in a JSON text (RFC 8259), in one pass and without decoding it.
///
/// It is strict about what it walks, which is the objects on the way to the wanted values: names, colons, commas,
/// numbers, literals, what follows the text. What lies inside other values, and inside the wanted ones, it only skips:
/// there, brackets must match and strings must end, and all else is left to whoever decodes it.
///
/// Of members with the same name the last counts, as RFC 8259 §4 says most readers do (`JSONSerialization` does;
/// `JSONDecoder` takes the first). Names are compared byte by byte, after escapes are undone.
///
/// It recurses as deep as the wanted paths are long, never as deep as the text is.
struct JSONScanner {
    /// Why a text has no values to find, and at which byte that showed.
    struct Failure: Error, Equatable {
        enum Kind: Equatable {
            /// Whatever it is, it doesn't begin like an object.
            case notAnObject
            /// It begins like an object and goes on in a way that no JSON text does.
            case malformed
        }

        let kind: Kind
        let offset: Int
        let problem: String
    }

    // Sets of paths are bits of a word.
    private typealias Paths = UInt64
    static let mostPaths = UInt64.bitWidth

    private let bytes: UnsafeRawBufferPointer
    private let paths: JSONPaths
    // As many as there are paths.
    private let found: UnsafeMutableBufferPointer<Range<Int>?>
    private var position = 0

    /// Finds the place of the value at each path, `nil` where there is none.
    ///
    /// - Parameters:
    ///   - paths: for each wanted value the names of the members that lead to it; no name leads to the whole text, without
    ///     whitespace and byte order mark around it. At most ``mostPaths``.
    ///   - bytes: the text, in UTF-8, which stays the caller's.
    ///   - places: memory for one place for each path, which stays the caller's; it is initialised also when this throws.
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
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
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
    /// Goes over a value to which the first `level` names of the matching paths have led.
    private mutating func walkValue(level: Int, matching: Paths) throws(Failure) {
        let start = position
        var ending: Paths = 0
        var rest = matching
        while let path = Self.next(in: &rest) {
            // An earlier member of the same name, and what was found in it, counts no more.
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

    /// Takes one path out of a set.
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

    /// Goes over a member's name; gives those of the paths that go on with it.
    private mutating func walkName(level: Int, matching: Paths) throws(Failure) -> Paths {
        guard current == UInt8(ascii: "\"") else { throw malformed("a member's name is missing") }
        let start = position + 1
        let hasEscapes = try skipString()
        let raw = UnsafeRawBufferPointer(rebasing: bytes[start..<position - 1])
        guard hasEscapes else { return narrowed(matching, level: level, name: raw) }
        guard let name = JSONText.unescaped(raw) else { return 0 }
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

    /// - Returns: whether it holds escapes.
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

    // RFC 8259 §6. What may not follow a number is found by whoever looks for a comma.
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

    /// The byte here; NUL, which has no place in JSON's grammar, at the end.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private func malformed(_ problem: String) -> Failure {
        let problem = position < bytes.count ? problem : "it ends too early"
        return Failure(kind: .malformed, offset: position, problem: problem)
    }
}
