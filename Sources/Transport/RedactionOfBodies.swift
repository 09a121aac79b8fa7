public import Foundation

extension Redaction {
    /// The beginning of a body as text for an error or a log, with secrets replaced.
    ///
    /// In JSON (complete or cut off) the values under sensitive names are replaced, at any depth; in a form, those of
    /// sensitive fields. What is not UTF-8 text is only described.
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
            default: Self.isForm(text) ? pairs(in: text[...]) : text
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
        var scanner = JSONRedactor(Array(text.utf8))
        return scanner.run(redaction: self)
    }
}

/// Copies JSON but for the values of sensitive names. What it can't make out it takes for part of the secret.
private struct JSONRedactor {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func run(redaction: Redaction) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        while position < bytes.count {
            let start = position
            guard bytes[position] == UInt8(ascii: "\"") else {
                output.append(bytes[position])
                position += 1
                continue
            }
            skipString()
            let name = bytes[start..<position]
            skipWhitespace()
            let isName = position < bytes.count && bytes[position] == UInt8(ascii: ":")
            if isName {
                position += 1
                skipWhitespace()
            }
            output += bytes[start..<position]
            if isName, redaction.isSensitive(Self.unescaped(name)), position < bytes.count {
                skipValue()
                output += Array("\"\(redaction.placeholder)\"".utf8)
            }
        }
        return String(decoding: output, as: UTF8.self)
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
