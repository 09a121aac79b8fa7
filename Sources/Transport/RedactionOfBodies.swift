public import Foundation

extension Redaction {
    /// The beginning of a body as text for an error or a log, with secrets replaced.
    ///
    /// In JSON (complete or cut off) the values under sensitive names are replaced, at any depth; in a form, those of
    /// sensitive fields; in other text, and in the values that are left, what ``text(_:)`` finds. What is not UTF-8 text is
    /// only described.
    ///
    /// - Parameters:
    ///   - body: the bytes, of which no more than `limit` are looked at.
    ///   - limit: the most bytes to show.
    public func excerpt(of body: Data, limit: Int = 1024) -> String {
        guard !body.isEmpty else { return "" }
        let shown = body.prefix(max(0, limit))
        let isCut = shown.count < body.count
        guard let text = Self.text(shown, isCut: isCut) else { return "<\(body.count) bytes of binary data>" }
        let redacted =
            switch text.unicodeScalars.first(where: { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }) {
            case "{", "[", "\"": redactingJSON(text)
            case "-" where text.hasPrefix("--"): redactingMultipart(text)
            default: Self.isForm(text) ? pairs(in: text) : self.text(text)
            }
        return isCut ? "\(redacted)… (\(body.count) bytes)" : redacted
    }

    /// UTF-8 text, or `nil` for anything else; a scalar that was cut in two at the end is dropped.
    private static func text(_ bytes: Data, isCut: Bool) -> String? {
        for dropped in 0...(isCut ? min(3, bytes.count) : 0) {
            if let text = String(validating: bytes.dropLast(dropped), as: UTF8.self) {
                return text.utf8.contains(0) ? nil : text
            }
        }
        return nil
    }

    private static func isForm(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: "=")) && !text.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: "<") }
    }

    /// JSON text with the values under sensitive names replaced. It need not be valid or complete.
    func redactingJSON(_ text: String) -> String {
        var redactor = JSONRedactor(Array(text.utf8), redaction: self)
        return redactor.run()
    }

    /// A multipart form (RFC 7578) with the content of sensitive fields replaced.
    private func redactingMultipart(_ text: String) -> String {
        let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { Substring($0.last == 0x0D ? $0.dropLast() : $0) }
        guard let boundary = lines.first else { return text }
        var result: [String] = []
        var isHeader = false
        var isSecret = false
        for line in lines {
            if line.hasPrefix(boundary) {
                (isHeader, isSecret) = (true, false)
                result.append(String(line))
            } else if isHeader {
                isHeader = !line.isEmpty
                isSecret = isSecret || nameOfPart(line).map(isSensitive) ?? false
                result.append(self.text(String(line)))
                if !isHeader, isSecret { result.append(placeholder) }
            } else if !isSecret {
                result.append(self.text(String(line)))
            }
        }
        return result.joined(separator: "\n")
    }

    private func nameOfPart(_ line: Substring) -> Substring? {
        guard line.lowercased().hasPrefix("content-disposition:") else { return nil }
        return line.firstMatch(of: /[;\s]name="?([^";]*)/.ignoresCase())?.output.1
    }
}

/// Copies JSON but for the values of sensitive names. What it can't make out it takes for part of the secret.
private struct JSONRedactor {
    private let bytes: [UInt8]
    private let redaction: Redaction
    private var position = 0
    private var output: [UInt8] = []
    private var isForeign = false

    init(_ bytes: [UInt8], redaction: Redaction) {
        self.bytes = bytes
        self.redaction = redaction
    }

    mutating func run() -> String {
        output.reserveCapacity(bytes.count)
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): copyString()
            case 0...0x20, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "}"),
                UInt8(ascii: "["),
                UInt8(ascii: "]"):
                output.append(bytes[position])
                position += 1
            default: copyScalar()
            }
        }
        // With words outside of strings it is something else, such as an object of JavaScript.
        if isForeign, let redacted = redaction.redactingText(output) { output = redacted }
        return String(decoding: output, as: UTF8.self)
    }

    private mutating func copyScalar() {
        let start = position
        repeat {
            position += 1
        } while position < bytes.count && !isAtEndOfValue
            && bytes[position] != UInt8(ascii: "\"") && bytes[position] != UInt8(ascii: ":")
        let scalar = bytes[start..<position]
        let isNumber = scalar.first.map { $0 == UInt8(ascii: "-") || $0 &- 0x30 < 10 } ?? false
        isForeign = isForeign || !isNumber && !Self.literals.contains(Array(scalar))
        output += scalar
    }

    private static let literals: Set<[UInt8]> = [Array("true".utf8), Array("false".utf8), Array("null".utf8)]

    private mutating func copyString() {
        let start = position
        skipString()
        let string = bytes[start..<position]
        let end = position
        skipWhitespace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
            copyValue(string)
            output += bytes[end..<position]
            return
        }
        position += 1
        skipWhitespace()
        output += bytes[start..<position]
        let name = Self.unescaped(string)
        guard redaction.isSensitive(name), position < bytes.count else { return }
        let value = position
        skipValue()
        if Redaction.isHarmless(bytes[value..<position], under: name) {
            output += bytes[value..<position]
        } else {
            output += Array("\"\(redaction.placeholder)\"".utf8)
        }
    }

    private mutating func copyValue(_ string: ArraySlice<UInt8>) {
        let isClosed = string.count > 1 && string.last == UInt8(ascii: "\"")
        let content = string.dropFirst().dropLast(isClosed ? 1 : 0)
        guard let redacted = redaction.redactingText(content, isJSON: true) else { return output += string }
        output.append(UInt8(ascii: "\""))
        output += redacted
        if isClosed { output.append(UInt8(ascii: "\"")) }
    }

    private mutating func skipWhitespace() {
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    }

    private mutating func skipString() {
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position + 1, bytes.count)
    }

    private mutating func skipValue() {
        var depth = 0
        repeat {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                position += 1
            case UInt8(ascii: ",") where depth == 0:
                return
            default:
                skipScalar(nested: depth > 0)
            }
        } while position < bytes.count && (depth > 0 || !isAtEndOfValue)
    }

    private mutating func skipScalar(nested: Bool) {
        position += 1
        while position < bytes.count, !nested, !isAtEndOfValue { position += 1 }
    }

    private var isAtEndOfValue: Bool {
        switch bytes[position] {
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): true
        case let byte: byte <= 0x20
        }
    }

    private static func unescaped(_ quoted: ArraySlice<UInt8>) -> String {
        let raw = String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
        guard raw.utf8.contains(UInt8(ascii: "\\")) else { return raw }
        return (try? JSONDecoder().decode(String.self, from: Data(quoted))) ?? raw
    }
}
