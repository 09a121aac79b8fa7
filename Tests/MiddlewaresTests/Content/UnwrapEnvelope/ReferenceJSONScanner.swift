/// The contract of `JSONScanner`, written as simply as possible: byte by byte, with the open brackets in an array.
struct ReferenceJSONScanner {
    struct Failure: Error {
        var isOfAnObject = true
    }

    private let bytes: [UInt8]
    private let wanted: Set<[[UInt8]]>
    private var position = 0
    private var found: [[[UInt8]]: Range<Int>] = [:]

    private init(bytes: [UInt8], wanted: Set<[[UInt8]]>) {
        self.bytes = bytes
        self.wanted = wanted
    }

    /// The ranges of the values at some paths. Each path has at least one name.
    static func find(_ paths: [[[UInt8]]], in bytes: [UInt8]) throws(Failure) -> [Range<Int>?] {
        var scanner = Self(bytes: bytes, wanted: Set(paths))
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position = 3 }
        scanner.skipSpace()
        guard scanner.next == "{" else { throw Failure(isOfAnObject: false) }
        try scanner.walkObject(at: [])
        scanner.skipSpace()
        guard scanner.position == bytes.count else { throw Failure() }
        return paths.map { scanner.found[$0] }
    }

    private var next: Unicode.Scalar? { position < bytes.count ? Unicode.Scalar(bytes[position]) : nil }

    private mutating func walkObject(at path: [[UInt8]]) throws(Failure) {
        try expect("{")
        skipSpace()
        if next == "}" { return position += 1 }
        while true {
            let start = position
            try skipString()
            let name = Self.unescaped(bytes[start + 1..<position - 1])
            skipSpace()
            try expect(":")
            skipSpace()
            if let name { try walkValue(at: path + [name]) } else { try skipValue() }
            skipSpace()
            guard next == "," else { return try expect("}") }
            position += 1
            skipSpace()
        }
    }

    private mutating func walkValue(at path: [[UInt8]]) throws(Failure) {
        // A member replaces earlier members with the same name.
        for old in found.keys where old.starts(with: path) { found[old] = nil }
        let start = position
        if next == "{", wanted.contains(where: { $0.count > path.count && $0.starts(with: path) }) {
            try walkObject(at: path)
        } else {
            try skipValue()
        }
        if wanted.contains(path) { found[path] = start..<position }
    }
}

extension ReferenceJSONScanner {
    private mutating func skipSpace() {
        while let next, next == " " || next == "\n" || next == "\r" || next == "\t" { position += 1 }
    }

    private mutating func expect(_ text: String) throws(Failure) {
        for scalar in text.unicodeScalars {
            guard next == scalar else { throw Failure() }
            position += 1
        }
    }

    private mutating func skipValue() throws(Failure) {
        switch next {
        case "{", "[":
            guard let end = Self.end(of: bytes, from: position) else { throw Failure() }
            position = end
        case "\"": try skipString()
        case "t": try expect("true")
        case "f": try expect("false")
        case "n": try expect("null")
        default: try skipNumber()
        }
    }

    private mutating func skipString() throws(Failure) {
        try expect("\"")
        while let next, next != "\"" { position += next == "\\" ? 2 : 1 }
        try expect("\"")
    }

    private mutating func skipNumber() throws(Failure) {
        if next == "-" { position += 1 }
        if next == "0" { position += 1 } else { try skipDigits() }
        if next == "." {
            position += 1
            try skipDigits()
        }
        guard next == "e" || next == "E" else { return }
        position += 1
        if next == "+" || next == "-" { position += 1 }
        try skipDigits()
    }

    private mutating func skipDigits() throws(Failure) {
        let start = position
        while let next, "0"..."9" ~= next { position += 1 }
        guard position > start else { throw Failure() }
    }

    /// The index after the bracket that closes the bracket at `start`. Returns `nil` if brackets don't match, a string
    /// has no end, or a character may not appear outside a string.
    static func end(of bytes: [UInt8], from start: Int) -> Int? {
        var open: [UInt8] = []
        var position = start
        var isInString = false
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\\"):
                guard isInString else { return nil }
                position += 1
            case UInt8(ascii: "\""): isInString.toggle()
            case _ where isInString: break
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(bytes[position])
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open.popLast() == bytes[position] - 2 else { return nil }
                if open.isEmpty { return position + 1 }
            case UInt8(ascii: "y"), UInt8(ascii: "Y"), UInt8(ascii: "_"), 0x7F: return nil
            default: break
            }
            position += 1
        }
        return nil
    }

    /// The bytes of a name without its escapes, or `nil` if an escape is invalid.
    private static func unescaped(_ raw: ArraySlice<UInt8>) -> [UInt8]? {
        let escapes: [Unicode.Scalar: UInt16] = [
            "\"": 0x22, "\\": 0x5C, "/": 0x2F, "b": 8, "f": 0xC, "n": 0xA, "r": 0xD, "t": 9,
        ]
        var rest = raw
        var result: [UInt8] = []
        // UTF-16 units of consecutive escapes, because two of them may form a surrogate pair.
        var units: [UInt16] = []
        func flushed() -> [UInt8] { Array(String(decoding: units, as: UTF16.self).utf8) }
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                result += flushed() + [byte]
                units = []
                continue
            }
            guard let kind = rest.popFirst() else { return nil }
            if kind == UInt8(ascii: "u") {
                let digits = rest.prefix(4)
                guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
                    return nil
                }
                units.append(UInt16(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(4)
            } else {
                guard let unit = escapes[Unicode.Scalar(kind)] else { return nil }
                units.append(unit)
            }
        }
        return result + flushed()
    }
}

extension String {
    /// The names in a path such as `data.result`, in UTF-8.
    var namesOfMembers: [[UInt8]] {
        isEmpty ? [] : split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
    }
}
