internal import Foundation
internal import InterceptorsSyntax

/// The parts of a file's name, read from its end: `users?page=2#2.201.json.head`.
struct AnswerFileName: Equatable {
    /// The last segment of the path, with the query.
    var base: String
    /// The digest of a request's body, after a `#`.
    var body: String?
    /// The answer's number among those for the same request, after a `#`.
    var number = 1
    var status: Int?
    var fileExtension: String?
    /// Whether the file holds the head of an answer.
    var isHead = false

    /// The ending of a file with the head of an answer.
    static let headEnding = ".head"

    init(_ name: String) {
        var rest = Substring(name)
        if rest.utf8.count > Self.headEnding.utf8.count, rest.hasSuffix(Self.headEnding) {
            isHead = true
            rest = rest.dropLast(Self.headEnding.count)
        }
        fileExtension = Self.cut(&rest, at: ".") { Self.isExtension($0.utf8) ? String($0) : nil }
        status = Self.cut(&rest, at: ".") { Self.status($0.utf8) }
        for _ in 0..<2 {
            if let number = Self.cut(&rest, at: "#", Self.number) {
                self.number = number
            } else if let digest = Self.cut(&rest, at: "#", Self.digest) {
                body = digest
            }
        }
        base = String(rest)
    }

    /// Whether these characters after a dot are an extension: a letter, and then at most nine letters and digits.
    static func isExtension(_ text: some Collection<UInt8>) -> Bool {
        guard let first = text.first, text.count <= 10, ASCII.isAlphanumeric(first), !ASCII.isDigit(first) else {
            return false
        }
        return text.allSatisfy(ASCII.isAlphanumeric)
    }

    /// The status that these characters after a dot stand for.
    static func status(_ text: some Collection<UInt8>) -> Int? {
        guard text.count == 3, text.allSatisfy(ASCII.isDigit), text.first != UInt8(ascii: "0") else { return nil }
        return Int(String(decoding: text, as: UTF8.self))
    }

    private static func number(_ text: Substring) -> Int? {
        guard text.utf8.count <= 3, text.utf8.allSatisfy(ASCII.isDigit), let number = Int(text), number > 0 else {
            return nil
        }
        return number
    }

    private static func digest(_ text: Substring) -> String? {
        text.utf8.count == 8 && text.utf8.allSatisfy { ASCII.hexadecimalValue($0) != nil } ? String(text) : nil
    }

    private static func cut<Part>(
        _ text: inout Substring,
        at mark: Character,
        _ read: (Substring) -> Part?
    ) -> Part? {
        guard let index = text.lastIndex(of: mark), index > text.startIndex,
            let part = read(text[text.index(after: index)...])
        else { return nil }
        text = text[..<index]
        return part
    }
}

extension AnswerFileName {
    /// A segment's name as the text of a pattern: capitals are no longer marked.
    static func patternText(_ name: some StringProtocol) -> String {
        if name == FolderName.emptySegment { return "" }
        var text: [UInt8] = []
        var isCapital = false
        for byte in name.utf8 {
            if isCapital, 0x61...0x7A ~= byte {
                text.append(byte ^ 0x20)
                isCapital = false
            } else {
                if isCapital { text.append(UInt8(ascii: "^")) }
                isCapital = byte == UInt8(ascii: "^")
                if !isCapital { text.append(byte) }
            }
        }
        if isCapital { text.append(UInt8(ascii: "^")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The text of the pattern that the base stands for: the last segment, and the query.
    static func patternText(ofBase base: String) -> String {
        guard let mark = base.firstIndex(of: "?") else { return patternText(base) }
        return patternText(base[..<mark]) + "?" + patternText(base[base.index(after: mark)...])
    }
}
