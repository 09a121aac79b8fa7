/// Lookahead helpers. As methods of the bytes they cost less than as methods of a redactor, whose state would be copied.
extension RandomAccessCollection where Element == UInt8, Index == Int {
    func skippingWhitespace(from start: Int) -> Int {
        var index = start
        while index < endIndex, self[index] <= 0x20 { index += 1 }
        return index
    }

    func skippingSpaces(from start: Int) -> Int {
        var index = start
        while index < endIndex, self[index] == 0x20 || self[index] == 0x09 { index += 1 }
        return index
    }

    func skippingBackslashes(from start: Int) -> Int {
        var index = start
        while index < endIndex, self[index] == UInt8(ascii: "\\") { index += 1 }
        return index
    }

    func isSign(at index: Int) -> Bool {
        index < endIndex && (self[index] == UInt8(ascii: ":") || self[index] == UInt8(ascii: "="))
    }

    func isQuote(at index: Int) -> Bool {
        index < endIndex && (self[index] == UInt8(ascii: "\"") || self[index] == UInt8(ascii: "'"))
    }

    func isTripleQuote(at index: Int) -> Bool {
        index + 2 < endIndex && self[index + 1] == self[index] && self[index + 2] == self[index]
    }

    /// Whether a `:` precedes `//` and so starts the authority of a URL.
    func isStartOfAuthority(at colon: Int) -> Bool {
        colon + 2 < endIndex && self[colon] == UInt8(ascii: ":") && self[colon + 1] == UInt8(ascii: "/")
            && self[colon + 2] == UInt8(ascii: "/")
    }

    /// The `:` or `=` that makes a word a name. A closing quote may come between the two.
    func sign(afterWord end: Int) -> Int? {
        var index = skippingBackslashes(from: end)
        if isQuote(at: index) {
            index = signAfterString(index + 1)
        } else {
            if index < endIndex, self[index] == UInt8(ascii: "&") { index += lengthOfQuoteEntity(at: index) ?? 0 }
            index = skippingSpaces(from: index)
        }
        return isSign(at: index) && !isStartOfAuthority(at: index) ? index : nil
    }

    /// The index where a `:` or `=` would follow a string, also after the bracket of `AnyHashable("token")` or `["token"]`.
    func signAfterString(_ end: Int) -> Int {
        let next = skippingWhitespace(from: end)
        guard next < endIndex, self[next] == UInt8(ascii: ")") || self[next] == UInt8(ascii: "]") else { return next }
        return skippingWhitespace(from: next + 1)
    }

    /// The index after a `:`, a `=` or a combination such as `=>`.
    func afterSign(_ sign: Int) -> Int {
        var index = sign
        while index < endIndex, isSign(at: index) || self[index] == UInt8(ascii: ">") { index += 1 }
        return index
    }

    /// The index after the closing quote. In JSON nested in JSON strings, 1, 3, 7 … backslashes precede each quote.
    func endOfString(from start: Int, quote: UInt8, backslashes: Int) -> Int? {
        var run = 0
        var index = start + 1
        while index < endIndex {
            let byte = self[index]
            if byte == UInt8(ascii: "\\") {
                run += 1
            } else {
                if byte == quote, run % (2 * (backslashes + 1)) == backslashes { return index + 1 }
                run = 0
            }
            index += 1
        }
        return nil
    }

    /// The opening quote of a string with a prefix of one or two letters, such as Python's `b'…'`.
    func quoteBehindPrefix(from start: Int) -> Int? {
        var index = start
        while index < endIndex, index - start <= 2 {
            switch self[index] | 0x20 {
            case UInt8(ascii: "b"), UInt8(ascii: "u"), UInt8(ascii: "r"), UInt8(ascii: "f"): index += 1
            default: return index > start && isQuote(at: index) ? index : nil
            }
        }
        return nil
    }

    /// The length of an HTML quote entity, such as `&quot;`.
    func lengthOfQuoteEntity(at index: Int) -> Int? {
        guard index < endIndex, self[index] == UInt8(ascii: "&") else { return nil }
        let text = Array(self[index..<Swift.min(index + 7, endIndex)])
        guard let end = text.firstIndex(of: UInt8(ascii: ";")),
            TextRedactor.isOneOf(["&quot", "&apos", "&#34", "&#39", "&#x22", "&#x27"], text[..<end])
        else { return nil }
        return end + 1
    }
}
