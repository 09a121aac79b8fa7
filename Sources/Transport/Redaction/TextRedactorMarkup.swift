internal import InterceptorsSyntax

extension TextRedactor {
    // MARK: XML and HTML

    mutating func redactElement() {
        let nameStart = position + 1
        let nameEnd = bytes[nameStart...].firstIndex { !Self.isElementName($0) } ?? bytes.count
        let name = bytes[nameStart..<nameEnd]
        let isNamed = namedElement == position
        position = nameStart
        guard let first = name.first, ASCII.isAlphanumeric(first), name.last != UInt8(ascii: ":") else { return }
        let attributesStart = endOfHiddenAttributes(nameEnd) ?? nameEnd
        let stop = endOfTag(from: attributesStart, start: nameStart - 1)
        let isTag = stop < bytes.count && bytes[stop] == UInt8(ascii: ">")
        // In XML, `code` usually means an error's code, and `key` an object's name.
        var isSecret = isNamed || redaction.isSensitive(name) && !Self.isOneOf(["code", "key"], name)
        let attributes = isTag ? attributes(nameEnd..<stop) : TagAttributes()
        if attributes.nameSecret, !Self.isVoidElement(name) { isSecret = true }
        if isSecret, stop == bytes.count { missing = .endOfTag }
        let hidesAttributes = isSecret || attributes.holdSecret
        if isTag, !isSecret { lookAtSiblings(of: name, from: stop + 1) }
        guard hidesAttributes || isTag && namedElement == nameStart - 1 else { return }
        position = stop
        let isEmptyElement = isTag && bytes[stop - 1] == UInt8(ascii: "/")
        if hidesAttributes, stop > attributesStart + (isEmptyElement ? 1 : 0) {
            replace(from: nameEnd, with: Array(" \(hiddenAttributes)\(isEmptyElement ? "/" : "")".utf8))
        }
        guard isSecret || namedElement == nameStart - 1, isTag, !isEmptyElement else { return }
        position = endOfElement(name, from: stop)
        hide(from: stop + 1)
    }

    /// The text in place of a tag's attributes. If the placeholder is a valid name, the text is an attribute, so that parsers can
    /// read the tag.
    private var hiddenAttributes: String {
        let placeholder = redaction.placeholder
        return placeholder.utf8.allSatisfy(Self.isElementName) && !placeholder.isEmpty
            ? placeholder + "=\"\"" : placeholder
    }

    /// The end of a placeholder in place of a tag's attributes, which may itself contain `<`, or `nil` without a placeholder.
    private func endOfHiddenAttributes(_ nameEnd: Int) -> Int? {
        guard nameEnd < bytes.count, bytes[nameEnd] == UInt8(ascii: " "), isPlaceholder(at: nameEnd + 1),
            bytes[(nameEnd + 1)...].starts(with: hiddenAttributes.utf8)
        else { return nil }
        return nameEnd + 1 + hiddenAttributes.utf8.count
    }

    /// The `>` of the tag that begins at `start`, or the `<` before it.
    ///
    /// Stops at another `<`. Skips quoted values only outside the previous tag: searching to the end from each `<` would take
    /// quadratic time.
    private mutating func endOfTag(from first: Int, start: Int) -> Int {
        let end = endOfTag(from: first, passesQuotes: start >= endOfTags)
        endOfTags = max(endOfTags, end)
        return end
    }

    /// - Parameter passesQuotes: whether to pass over quoted values of attributes, which may contain `<` and `>`.
    private func endOfTag(from first: Int, passesQuotes: Bool) -> Int {
        var index = first
        while index < bytes.count, bytes[index] != UInt8(ascii: "<"), bytes[index] != UInt8(ascii: ">") {
            if passesQuotes, bytes.isQuote(at: index), isValueOfAttribute(at: index),
                let quote = bytes[(index + 1)...].firstIndex(of: bytes[index])
            {
                index = quote
            }
            index += 1
        }
        return index
    }

    private func isValueOfAttribute(at quote: Int) -> Bool {
        bytes[..<quote].last { $0 > 0x20 } == UInt8(ascii: "=")
    }

    /// The end tag of an element, which may contain elements of the same name; without one, the end of the text.
    private func endOfElement(_ name: ArraySlice<UInt8>, from start: Int) -> Int {
        var nesting = 1
        var rest = bytes[start...]
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(open + 1)...]
            if let end = endOfOpaque(at: open) {
                rest = bytes[end...]
            } else if rest.first == UInt8(ascii: "/"), isName(name, at: open + 2) {
                nesting -= 1
                if nesting == 0 { return open }
            } else if isName(name, at: open + 1) {
                let end = endOfTag(from: open + 1 + name.count, passesQuotes: true)
                rest = bytes[end...]
                if rest.first == UInt8(ascii: ">"), bytes[end - 1] != UInt8(ascii: "/") { nesting += 1 }
            }
        }
        return bytes.count
    }

    /// Whether this name begins at an index, and not a longer one.
    private func isName(_ name: ArraySlice<UInt8>, at index: Int) -> Bool {
        guard bytes[min(index, bytes.count)...].starts(with: name) else { return false }
        let end = index + name.count
        return end == bytes.count || !Self.isElementName(bytes[end])
    }

    /// The end of a comment or of a `CDATA` section, in which tags are text.
    private func endOfOpaque(at open: Int) -> Int? {
        guard open + 1 < bytes.count, bytes[open + 1] == UInt8(ascii: "!") else { return nil }
        for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>")]
        where bytes[open...].starts(with: opening.utf8) {
            let content = open + opening.utf8.count
            return bytes[content...].firstRange(of: Array(closing.utf8))?.upperBound ?? bytes.count
        }
        return nil
    }

    /// The secrets that the attributes of a tag contain or announce.
    struct TagAttributes {
        /// Whether an attribute holds a secret, as in `<input name="password" value="…">`.
        var holdSecret = false
        /// Whether the attributes give the content a sensitive name, as in `<string name="api_key">…</string>`.
        var nameSecret = false
    }

    private func attributes(_ range: Range<Int>) -> TagAttributes {
        guard !range.isEmpty else { return TagAttributes() }
        let words = bytes[range].split { !Self.isWord($0) }
        guard words.contains(where: { redaction.isSensitive($0) }) else { return TagAttributes() }
        return TagAttributes(
            holdSecret: words.contains { Self.isOneOf(["value", "content"], $0) },
            nameSecret: words.indices.dropLast().contains { index in
                Self.isOneOf(["name", "key", "field", "param", "property"], words[index])
                    && redaction.isSensitive(words[index + 1])
            }
        )
    }

    /// Handles `<key>password</key><string>…</string>`, in either order of name and value.
    private mutating func lookAtSiblings(of name: ArraySlice<UInt8>, from start: Int) {
        let local = localName(name)
        let isName = Self.isOneOf(["name", "key", "field", "param", "td", "th", "dt", "n", "k"], local)
        let isValue = Self.isOneOf(["value", "val", "v", "string", "data"], local)
        guard isName || isValue, let end = endOfText(from: start, in: name), end.sibling < bytes.count else { return }
        if isName {
            let text = bytes[start..<end.text].drop { $0 <= 0x20 }
            if text.count <= 128, redaction.isSensitive(text) { namedElement = end.sibling }
        } else {
            let otherStart = end.sibling + 1
            let otherEnd = bytes[otherStart...].firstIndex { !Self.isElementName($0) } ?? bytes.count
            let other = bytes[otherStart..<otherEnd]
            guard otherEnd < bytes.count, bytes[otherEnd] == UInt8(ascii: ">"),
                Self.isOneOf(["name", "key", "field", "param", "n", "k"], localName(other)),
                let otherText = endOfText(from: otherEnd + 1, in: other)?.text, otherText - otherEnd <= 128,
                redaction.isSensitive(bytes[(otherEnd + 1)..<otherText])
            else { return }
            namedElement = name.startIndex - 1
        }
    }

    private func localName(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    }

    /// The end of an element's text, if the element has no children, and the start of the next element.
    private func endOfText(from start: Int, in name: ArraySlice<UInt8>) -> (text: Int, sibling: Int)? {
        guard let text = bytes[start...].firstIndex(of: UInt8(ascii: "<")),
            bytes[(text + 1)...].first == UInt8(ascii: "/"), bytes[(text + 2)...].starts(with: name)
        else { return nil }
        let close = bytes[(text + 2 + name.count)...].firstIndex { $0 > 0x20 } ?? bytes.count
        guard close < bytes.count, bytes[close] == UInt8(ascii: ">") else { return nil }
        let sibling = bytes.skippingWhitespace(from: close + 1)
        return (text, sibling < bytes.count && bytes[sibling] == UInt8(ascii: "<") ? sibling : bytes.count)
    }

    private static func isVoidElement(_ name: ArraySlice<UInt8>) -> Bool {
        isOneOf(["input", "meta", "img", "link", "br", "hr", "area", "base", "source", "track", "wbr"], name)
    }
}
