extension NamedValues {
    /// Whether a value or an element may begin at the index, so that a single quote there is no apostrophe.
    func isStartOfValue(_ index: Int) -> Bool {
        guard index > 0 else { return true }
        switch bytes[index - 1] {
        case 0...0x20, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("), UInt8(ascii: ","), UInt8(ascii: ":"),
            UInt8(ascii: "="), UInt8(ascii: ">"):
            return true
        default: return index < 3 || isPrefixOfString(at: index - 1) && isStartOfValue(index - 1)
        }
    }

    /// Whether the index holds the prefix of a Python string such as `b'…'`.
    func isPrefixOfString(at index: Int) -> Bool { bytes.quoteBehindPrefix(from: index) != nil }

    mutating func endOfSingleQuoted(at start: Int) -> Int? {
        guard hasSingleQuotes else { return nil }
        guard let end = bytes.endOfString(from: start, quote: bytes[start], backslashes: 0) else {
            hasSingleQuotes = false
            return nil
        }
        let next = bytes.skippingSpaces(from: end)
        guard next < bytes.count else { return end }
        switch bytes[next] {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "}"),
            UInt8(ascii: "]"), UInt8(ascii: ")"), UInt8(ascii: "&"), 0x0A, 0x0D:
            return end
        default: return nil
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The word before a sign. In brackets such as those of `fields[0][name]`, the last part. A quote may come between word and
    /// sign.
    func namedWord(beforeSign sign: Int) -> Range<Int>? {
        var end = sign
        while end > 0, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
        if end > 0, isQuote(at: end - 1) {
            end -= 1
            while end > 0, self[end - 1] == UInt8(ascii: "\\") { end -= 1 }
        } else if end > 0, self[end - 1] == UInt8(ascii: "]") {
            end -= 1
        }
        let start = startOfNamedWord(before: end)
        return start < end ? start..<end : nil
    }

    private func startOfNamedWord(before end: Int) -> Int {
        var start = end
        while start > 0, end - start < 256, isNamedWord(self[start - 1]) { start -= 1 }
        return start
    }

    func endOfNamedWord(from start: Int) -> Int {
        var end = start
        while end < count, isNamedWord(self[end]) { end += 1 }
        return end
    }

    @inline(__always)
    func isNamedWord(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        if letter &- 0x61 < 26 || byte &- 0x30 < 10 || byte >= 0x80 { return true }
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "+"),
            UInt8(ascii: "$"):
            return true
        default: return false
        }
    }
}
