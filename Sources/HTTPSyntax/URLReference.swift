/// A URI reference split into its parts (RFC 3986 §4.1), such as the value of `Location`.
///
/// Foundation resolves references differently on different platforms and versions; the target of a redirect must not differ.
package struct URLReference {
    package var scheme: String?
    package var authority: String?
    package var path: String
    package var query: String?
    package var fragment: String?

    /// Splits a text into its parts. Characters that a URL can't contain are percent-encoded as UTF-8, as browsers do. Returns
    /// `nil` for a text with a control character, or with an authority that parsers may interpret differently.
    package init?(_ text: some StringProtocol) {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        var rest = Substring(text)
        fragment = Self.cut(&rest, at: UInt8(ascii: "#")).map { PercentEncoding.query($0) }
        query = Self.cut(&rest, at: UInt8(ascii: "?")).map { PercentEncoding.query($0) }
        scheme = Self.takeScheme(from: &rest)
        if rest.utf8.starts(with: "//".utf8) {
            // Works on bytes: for a `String`, a slash followed by a combining accent isn't a slash.
            rest = Substring(rest.utf8.dropFirst(2))
            let path = Self.cut(&rest, at: UInt8(ascii: "/"))
            // Parsers disagree about backslashes and spaces here, and so about the host that the authority names.
            guard !rest.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "\\") }) else { return nil }
            // User information in a URL from a server isn't a credential of the caller (RFC 9110 §4.2.4).
            authority =
                String(
                    rest.utf8.lastIndex(of: UInt8(ascii: "@")).map { Substring(rest.utf8[$0...].dropFirst()) } ?? rest
                )
            rest = path.map { "/" + $0 } ?? ""
        }
        path = PercentEncoding.path(rest)
    }

    /// The absolute reference that results from resolving this one against a base (RFC 3986 §5.2.2).
    package func resolved(against base: URLReference) -> URLReference {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil { target.takeOver(base) }
        }
        target.path = DotSegments.removed(from: target.path)
        return target
    }

    private mutating func takeOver(_ base: URLReference) {
        authority = base.authority
        if path.isEmpty {
            path = base.path
            query = query ?? base.query
        } else if !path.utf8.starts(with: "/".utf8) {
            path = Self.merged(path, onto: base)
        }
    }

    /// The reference as text (RFC 3986 §5.3).
    package var text: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }
}

extension URLReference {
    /// Cuts the text at the first occurrence of a byte, and returns the part after it.
    private static func cut(_ text: inout Substring, at byte: UInt8) -> Substring? {
        guard let index = text.utf8.firstIndex(of: byte) else { return nil }
        defer { text = text[..<index] }
        return text[text.utf8.index(after: index)...]
    }

    private static func takeScheme(from text: inout Substring) -> String? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = text[..<colon]
        guard isScheme(name) else { return nil }
        text = text[text.utf8.index(after: colon)...]
        return name.lowercased()
    }

    /// Whether the text can be a scheme (RFC 3986 §3.1): a letter, and then letters, digits, `+`, `-` and `.`.
    package static func isScheme(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, ASCII.isAlphanumeric(first), !ASCII.isDigit(first) else { return false }
        return text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "+-.".utf8.contains($0) }
    }

    private static func merged(_ path: String, onto base: URLReference) -> String {
        guard !base.path.isEmpty else { return "/" + path }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return base.path[...slash] + path
    }
}
