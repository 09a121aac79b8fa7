/// Adds line breaks and indents to JSON text, and changes nothing else: keys keep their order, numbers their digits and
/// strings their escapes.
package enum JSONIndentation {
    /// The maximum nesting depth. Deeper text isn't indented, because the indents would soon be longer than the text.
    package static let deepest = 64

    /// The text with two spaces of indent per level; `nil` if its brackets, commas and quotes aren't those of JSON, it is
    /// nested too deeply, or the result would be too long. Several values in a row, as in JSON Lines, are separated by line
    /// breaks.
    package static func indented(_ text: String) -> String? {
        let first = text.utf8.first { !Indenter.isSpace($0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        var indenter = Indenter(Array(text.utf8))
        return indenter.run() ? String(decoding: indenter.output, as: UTF8.self) : nil
    }
}

/// Makes a single pass over the bytes, with a bit for each open bracket and no recursion.
private struct Indenter {
    private let bytes: [UInt8]
    private let longest: Int
    private var position = 0
    private var depth = 0
    private var objects: UInt64 = 0
    private var isAfterValue = false
    /// Whether a bracket was opened, and nothing came since.
    private var isEmpty = false
    private(set) var output: [UInt8] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        longest = bytes.count * 4 + 16_384
        output.reserveCapacity(bytes.count * 2)
    }

    /// Indents the text. Returns `false` if the text can't be indented.
    mutating func run() -> Bool {
        while position < bytes.count {
            guard step(), output.count <= longest else { return false }
        }
        return depth == 0 && isAfterValue
    }

    private mutating func step() -> Bool {
        let byte = bytes[position]
        switch byte {
        case _ where Self.isSpace(byte): position += 1
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < JSONIndentation.deepest, beginValue() else { return false }
            let bit: UInt64 = 1 << UInt64(depth)
            objects = byte == UInt8(ascii: "{") ? objects | bit : objects & ~bit
            depth += 1
            isEmpty = true
            take()
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard isAfterValue || isEmpty, depth > 0, isInObject == (byte == UInt8(ascii: "}")) else { return false }
            depth -= 1
            if !isEmpty { breakLine() }
            (isAfterValue, isEmpty) = (true, false)
            take()
        case UInt8(ascii: ","):
            guard isAfterValue, depth > 0 else { return false }
            take()
            breakLine()
            isAfterValue = false
        case UInt8(ascii: ":"):
            guard isAfterValue, isInObject else { return false }
            take()
            output.append(0x20)
            isAfterValue = false
        default:
            guard beginValue() else { return false }
            isAfterValue = true
            return byte == UInt8(ascii: "\"") ? string() : scalar()
        }
        return true
    }

    private var isInObject: Bool { depth > 0 && objects >> UInt64(depth - 1) & 1 == 1 }

    private mutating func take() {
        output.append(bytes[position])
        position += 1
    }

    private mutating func breakLine() {
        output.append(0x0A)
        output.append(contentsOf: repeatElement(0x20, count: 2 * depth))
    }

    private mutating func beginValue() -> Bool {
        // Values need a comma between them, except at the top level, where another value may follow.
        guard !isAfterValue || depth == 0 else { return false }
        if isAfterValue || isEmpty { breakLine() }
        (isAfterValue, isEmpty) = (false, false)
        return true
    }

    private mutating func string() -> Bool {
        var end = position + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < bytes.count else { return false }
        output += bytes[position...end]
        position = end + 1
        return true
    }

    private mutating func scalar() -> Bool {
        repeat { take() } while position < bytes.count && !Self.endsScalar(bytes[position])
        return true
    }

    private static func endsScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: "\""):
            true
        default: isSpace(byte)
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
