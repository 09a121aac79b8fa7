internal import InterceptorsSyntax

/// Hides the leaves of a JSON number, object or array, so that a decoder still finds the types that it expects.
///
/// A string becomes the placeholder, and a number 0. `true`, `false` and `null` are kept, because they reveal too little.
struct JSONLeaves: ~Copyable {
    private enum Expected { case value, valueOrEnd, name, nameOrEnd, colon, separator }

    private let bytes: [UInt8]
    private let placeholder: [UInt8]
    private var position: Int
    private var expected = Expected.value
    private var brackets: [UInt8] = []
    private var output: [UInt8] = []
    private var copied: Int

    /// The value without its leaves, and the index after it; `nil` for any other value, and for one that broke off or isn't JSON.
    static func hidden(in bytes: [UInt8], at start: Int, placeholder: String) -> (text: [UInt8], end: Int)? {
        guard start < bytes.count, bytes[start] != UInt8(ascii: "\"") else { return nil }
        var leaves = JSONLeaves(bytes, at: start, placeholder)
        repeat {
            leaves.position = bytes.skippingWhitespace(from: leaves.position)
            guard leaves.position < bytes.count, leaves.step() else { return nil }
        } while !leaves.brackets.isEmpty
        // More digits, or another half of the value, may follow a number at the end.
        let next = bytes.skippingWhitespace(from: leaves.position)
        guard next < bytes.count ? ",}]".utf8.contains(bytes[next]) : "}]".utf8.contains(bytes[leaves.position - 1])
        else {
            return nil
        }
        return (leaves.output + bytes[leaves.copied..<leaves.position], leaves.position)
    }

    private init(_ bytes: [UInt8], at start: Int, _ placeholder: String) {
        self.bytes = bytes
        self.placeholder = Array("\"\(placeholder)\"".utf8)
        position = start
        copied = start
    }

    /// Reads one token; `false` if it can't come here.
    private mutating func step() -> Bool {
        let byte = bytes[position]
        switch (expected, byte) {
        case (.value, UInt8(ascii: "{")), (.valueOrEnd, UInt8(ascii: "{")): open(byte, .nameOrEnd)
        case (.value, UInt8(ascii: "[")), (.valueOrEnd, UInt8(ascii: "[")): open(byte, .valueOrEnd)
        case (.nameOrEnd, UInt8(ascii: "}")), (.valueOrEnd, UInt8(ascii: "]")), (.separator, UInt8(ascii: "}")),
            (.separator, UInt8(ascii: "]")):
            return close(byte)
        case (.separator, UInt8(ascii: ",")): skip(brackets.last == UInt8(ascii: "{") ? .name : .value)
        case (.colon, UInt8(ascii: ":")): skip(.value)
        case (.name, UInt8(ascii: "\"")), (.nameOrEnd, UInt8(ascii: "\"")): return takeName()
        case (.value, _), (.valueOrEnd, _): return takeLeaf()
        default: return false
        }
        return true
    }

    private mutating func skip(_ next: Expected) {
        position += 1
        expected = next
    }

    private mutating func open(_ bracket: UInt8, _ next: Expected) {
        brackets.append(bracket)
        skip(next)
    }

    private mutating func close(_ bracket: UInt8) -> Bool {
        // In ASCII, a closing bracket comes two after the opening one.
        guard brackets.popLast() == bracket - 2 else { return false }
        skip(.separator)
        return true
    }

    private mutating func takeName() -> Bool {
        guard let end = bytes.endOfString(from: position, quote: UInt8(ascii: "\""), backslashes: 0) else {
            return false
        }
        // In a dictionary, a member's name may be a secret.
        take(to: end, replacement: WordShape.isName(bytes[(position + 1)..<(end - 1)]) ? nil : placeholder)
        expected = .colon
        return true
    }

    private mutating func takeLeaf() -> Bool {
        expected = .separator
        if bytes[position] == UInt8(ascii: "\"") {
            guard let end = bytes.endOfString(from: position, quote: UInt8(ascii: "\""), backslashes: 0) else {
                return false
            }
            take(to: end, replacement: placeholder)
            return true
        }
        let word = bytes[position...].prefix { ASCII.isAlphanumeric($0) || "+-.".utf8.contains($0) }
        if ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) }) {
            take(to: word.endIndex, replacement: nil)
            return true
        }
        guard let digit = word.drop(while: { $0 == UInt8(ascii: "-") }).first, ASCII.isDigit(digit),
            word.allSatisfy({ ASCII.isDigit($0) || "+-.eE".utf8.contains($0) })
        else { return false }
        take(to: word.endIndex, replacement: [UInt8(ascii: "0")])
        return true
    }

    private mutating func take(to end: Int, replacement: [UInt8]?) {
        if let replacement {
            output += bytes[copied..<position]
            output += replacement
            copied = end
        }
        position = end
    }
}
