extension TextRedactor {
    // MARK: Private keys and arguments

    /// The content between the two boundaries of a private key in PEM (RFC 7468) or a similar form. Without a closing boundary,
    /// the rest of the text.
    func privateKey(at start: Int) -> Range<Int>? {
        var index = start
        let limit = min(start + 6, bytes.count)
        while index < limit, bytes[index] == UInt8(ascii: "-") || bytes[index] == 0x20 { index += 1 }
        guard bytes[index...].starts(with: "BEGIN".utf8) else { return nil }
        let isBoundary = index > start || start > 1 && bytes[start - 2] == UInt8(ascii: "-")
        guard isBoundary, let label = bytes[index...].prefix(64).firstIndex(of: UInt8(ascii: "-")),
            bytes[index..<label].firstRange(of: "PRIVATE".utf8) != nil
        else { return nil }
        let content = bytes[label...].firstIndex { $0 != UInt8(ascii: "-") } ?? bytes.count
        guard let end = bytes[content...].firstRange(of: "END".utf8)?.lowerBound else { return content..<bytes.count }
        return content..<endOfPrivateKey(from: end, after: content)
    }

    private func endOfPrivateKey(from first: Int, after content: Int) -> Int {
        var end = first
        while true {
            let boundary = bytes[..<end].lastIndex { $0 != UInt8(ascii: "-") && $0 != 0x20 }.map { $0 + 1 } ?? content
            if end - boundary >= 4, bytes[boundary] == UInt8(ascii: "-") || bytes[boundary] == 0x20 {
                return max(content, boundary)
            }
            guard let next = bytes[(end + 3)...].firstRange(of: "END".utf8)?.lowerBound else { return bytes.count }
            end = next
        }
    }

    /// The argument of an option such as `--password`, the user and password of curl's `-u`, or the quoted text in `password
    /// '…'`.
    func secretArgument(after word: ArraySlice<UInt8>) -> Range<Int>? {
        guard position + 1 < bytes.count else { return nil }
        let isOption = bytes[word.startIndex] == UInt8(ascii: "-")
        guard isOption || bytes[position + 1] == UInt8(ascii: "'") || bytes[position + 1] == UInt8(ascii: "\"") else {
            return nil
        }
        let start = bytes.skippingSpaces(from: position)
        guard start < bytes.count, bytes[start] != UInt8(ascii: "-") else { return nil }
        guard isOption else { return quotedText(at: start, after: word) }
        let end = bytes[start...].firstIndex { $0 <= 0x20 } ?? bytes.count
        if word.starts(with: "--".utf8), redaction.isSensitive(word.dropFirst(2)) {
            guard bytes[start] == UInt8(ascii: "'") || bytes[start] == UInt8(ascii: "\"") else { return start..<end }
            return start..<(bytes.endOfString(from: start, quote: bytes[start], backslashes: 0) ?? bytes.count)
        }
        let isUser = Self.isOneOf(["-u", "--user", "--proxy-user"], word)
        return isUser && bytes[start..<end].contains(UInt8(ascii: ":")) ? start..<end : nil
    }

    private func quotedText(at start: Int, after word: ArraySlice<UInt8>) -> Range<Int>? {
        guard bytes[start] == UInt8(ascii: "'") || bytes[start] == UInt8(ascii: "\""),
            Self.valuesWithSpaces.isSensitive(word)
        else { return nil }
        let end = bytes.endOfString(from: start, quote: bytes[start], backslashes: 0).map { $0 - 1 }
        return (start + 1)..<(end ?? bytes.count)
    }
}
