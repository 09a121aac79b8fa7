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
        if isForPrograms {
            output += redacted(Array(bytes[end...]), isCut: false) ?? Array(bytes[end...])
        }
        return String(decoding: output, as: UTF8.self)
    }

    static func mayHideSecret(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
        let isFound = ByteWord.contains(in: UnsafeRawBufferPointer(url)) { word in
            let isHarmless =
                word.isLow(otherThan: UInt8(ascii: "#")) & word.isLow(otherThan: UInt8(ascii: "?"))
                & word.isLow(otherThan: UInt8(ascii: "@")) & word.isLow(otherThan: UInt8(ascii: ";"))
                & word.isLow(otherThan: UInt8(ascii: "%"))
            return ~(isHarmless | word.rawValue)
        }
        return isFound || KnownSecret.isToken(url, isCut: false)
    }

    /// Appends scheme, authority and path.
    private func appendHead(_ head: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var path = head
        if let slashes = startOfAuthority(head) {
            output += head[..<slashes]
            let authority = head[slashes...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                note(KnownSecret.note)
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
            let own = segment.prefix { $0 != UInt8(ascii: ";") }
            appendWithoutHiddenSecrets(own, to: &output)
            // The segment may have parameters such as `;jsessionid=…` (RFC 3986 §3.3).
            guard own.endIndex < segment.endIndex else { continue }
            output.append(UInt8(ascii: ";"))
            appendPairs(segment[(own.endIndex + 1)...], to: &output)
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

    /// Appends `name=value` pairs separated by `&` or `;`. A sensitive value ends only at a `&`, because it may contain a `;`.
    ///
    /// - Parameter isCut: whether the last value may be incomplete.
    func appendPairs(_ query: ArraySlice<UInt8>, isCut: Bool = false, to output: inout [UInt8]) {
        // An OAuth code comes back beside the state that the client has sent (RFC 6749 §4.1.2).
        let hasState = query.split(separator: UInt8(ascii: "&")).contains { $0.starts(with: "state=".utf8) }
        var rest = query
        while true {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: ";") }
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let isCut = isCut && pair.endIndex == query.endIndex
            rest = rest[pair.endIndex...]
            if name.count < pair.count - 1,
                isSensitive(decoded(name)) || hasState && name.elementsEqual("code".utf8)
            {
                note(String(decoding: name, as: UTF8.self))
                appendWithoutHiddenSecrets(name, to: &output)
                output += "=\(placeholder)".utf8
                rest = rest.drop { $0 != UInt8(ascii: "&") }
            } else {
                appendWithoutHiddenSecrets(name, isCut: isCut && name.count == pair.count, to: &output)
                if name.count < pair.count {
                    output.append(UInt8(ascii: "="))
                    appendWithoutHiddenSecrets(pair[(name.endIndex + 1)...], isCut: isCut, to: &output)
                }
            }
            guard let separator = rest.popFirst() else { return }
            output.append(separator)
        }
    }

    /// Appends text without its secrets. If its percent-decoded form, such as another URL, contains a secret, all of it is
    /// replaced.
    private func appendWithoutHiddenSecrets(_ text: ArraySlice<UInt8>, isCut: Bool = false, to output: inout [UInt8]) {
        guard isCut || text.withUnsafeBufferPointer(Self.mayReveal) else { return output += text }
        // In a form, a `+` stands for a space.
        let spaced = text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        if text.contains(UInt8(ascii: "%")), redacted(spaced.percentDecoded, isCut: isCut, depth: 1) != nil {
            output += placeholder.utf8
        } else {
            output += redacted(Array(text), isCut: isCut) ?? Array(text)
        }
    }

    private func decoded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        text.contains(UInt8(ascii: "%")) ? Array(text).percentDecodedFully[...] : text
    }
}
