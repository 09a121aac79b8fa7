internal import InterceptorsSyntax

extension Redaction {
    /// A URL in printable form. The text may also be a relative URL, or not a URL at all.
    package func redactingURL(_ text: String) -> String {
        // Most URLs contain nothing to hide, and a log redacts each URL twice.
        let isHarmless = text.utf8.withContiguousStorageIfAvailable { !Self.mayHideSecret($0) }
        if isHarmless == true { return text }
        let bytes = Array(text.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        var output: [UInt8] = []
        output.reserveCapacity(end + placeholder.utf8.count)
        appendHead(bytes[..<mark], to: &output)
        if mark < end {
            output.append(UInt8(ascii: "?"))
            appendPairs(bytes[(mark + 1)..<end], to: &output)
        }
        return String(decoding: output, as: UTF8.self)
    }

    // Tests for `J` because JSON Web Tokens begin with `eyJ`.
    static func mayHideSecret(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
        ByteWord.contains(in: UnsafeRawBufferPointer(url)) { word in
            let isHarmless =
                word.isLow(otherThan: UInt8(ascii: "#")) & word.isLow(otherThan: UInt8(ascii: "?"))
                & word.isLow(otherThan: UInt8(ascii: "@")) & word.isLow(otherThan: UInt8(ascii: ";"))
                & word.isLow(otherThan: UInt8(ascii: "%")) & word.isLow(otherThan: UInt8(ascii: "J"))
            return ~(isHarmless | word.rawValue)
        }
    }

    /// Appends scheme, authority and path.
    private func appendHead(_ head: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var path = head
        if let slashes = startOfAuthority(head) {
            output += head[..<slashes]
            let authority = head[slashes...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                output += placeholder.utf8
                output += authority[at...]
            } else {
                output += authority
            }
            path = head[authority.endIndex...]
        }
        for (index, segment) in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).enumerated()
        {
            if index > 0 { output.append(UInt8(ascii: "/")) }
            appendSegment(segment, to: &output)
        }
    }

    private func startOfAuthority(_ head: ArraySlice<UInt8>) -> Int? {
        let slashes = Array("//".utf8)
        if head.starts(with: slashes) { return head.startIndex + 2 }
        guard let colon = head.firstIndex(of: UInt8(ascii: ":")), head[(colon + 1)...].starts(with: slashes) else {
            return nil
        }
        return colon + 3
    }

    /// Appends a path segment, which may have parameters such as `;jsessionid=…` (RFC 3986 §3.3).
    private func appendSegment(_ segment: ArraySlice<UInt8>, to output: inout [UInt8]) {
        let own = segment.prefix { $0 != UInt8(ascii: ";") }
        appendWithoutHiddenSecrets(own, to: &output)
        guard own.endIndex < segment.endIndex else { return }
        output.append(UInt8(ascii: ";"))
        appendPairs(segment[(own.endIndex + 1)...], to: &output)
    }

    /// Appends `name=value` pairs separated by `&` or `;`. A sensitive value ends only at a `&`, because it may contain a `;`.
    private func appendPairs(_ query: ArraySlice<UInt8>, to output: inout [UInt8]) {
        // Finds pairs such as `name=password&value=…`.
        let named = Set(NamedValues.found(in: Array(query), by: self, isCut: false).map { $0.start + query.startIndex })
        for (index, group) in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
            if index > 0 { output.append(UInt8(ascii: "&")) }
            for (index, pair) in group.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                .enumerated()
            {
                if index > 0 { output.append(UInt8(ascii: ";")) }
                let name = pair.prefix { $0 != UInt8(ascii: "=") }
                if name.count < pair.count, isSensitive(decoded(name)) || named.contains(name.endIndex + 1) {
                    output += name
                    output.append(UInt8(ascii: "="))
                    output += placeholder.utf8
                    break
                }
                appendPair(pair, name: name, to: &output)
            }
        }
    }

    private func appendPair(_ pair: ArraySlice<UInt8>, name: ArraySlice<UInt8>, to output: inout [UInt8]) {
        appendWithoutHiddenSecrets(name, to: &output)
        guard name.count < pair.count else { return }
        output.append(UInt8(ascii: "="))
        appendWithoutHiddenSecrets(pair[(name.endIndex + 1)...], to: &output)
    }

    /// Appends text without its secrets. If its percent-decoded form, such as another URL, contains a secret, all of it is
    /// replaced.
    private func appendWithoutHiddenSecrets(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) {
        let isPlain = !text.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }
        if isPlain, !text.starts(with: "eyJ".utf8) { return output += text }
        let plain = redacting(Array(text), isCut: false)
        let isHiding = TextRedactor.redacted(plain.percentDecoded, by: self, isCut: false, depth: 1) != nil
        output += isHiding ? Array(placeholder.utf8) : plain
    }

    private func decoded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        text.contains(UInt8(ascii: "%")) ? Array(text).percentDecodedFully[...] : text
    }
}
