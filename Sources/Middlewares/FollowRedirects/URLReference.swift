internal import Foundation

/// A URI reference split into its parts (RFC 3986 §4.1), such as the value of `Location`.
///
/// Foundation resolves references differently on different platforms and versions; the target of a redirect must not differ.
struct URLReference {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// Splits a text into its parts. Characters that a URL can't contain are percent-encoded as UTF-8, as browsers do. Returns
    /// `nil` for a text with a control character, or with an authority that parsers may interpret differently.
    init?(_ text: some StringProtocol) {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        var rest = Substring(text)
        fragment = Self.cut(&rest, at: UInt8(ascii: "#")).map { Self.encoded($0, keeping: "/?") }
        query = Self.cut(&rest, at: UInt8(ascii: "?")).map { Self.encoded($0, keeping: "/?") }
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
        path = Self.encoded(rest, keeping: "/")
    }

    /// The absolute reference that results from resolving this one against a base (RFC 3986 §5.2.2).
    func resolved(against base: URLReference) -> URLReference {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil { target.takeOver(base) }
        }
        target.path = Self.withoutDots(target.path)
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
    var text: String {
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
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first,
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= first | 0x20
        else { return nil }
        let name = text[..<colon]
        guard name.utf8.allSatisfy(isSchemeByte) else { return nil }
        text = text[text.utf8.index(after: colon)...]
        return name.lowercased()
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func merged(_ path: String, onto base: URLReference) -> String {
        guard !base.path.isEmpty else { return "/" + path }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return base.path[...slash] + path
    }

    /// The path with dot segments resolved (RFC 3986 §5.2.4). `..` never leads above the root.
    private static func withoutDots(_ path: String) -> String {
        guard path.utf8.starts(with: "/".utf8), path.utf8.contains(UInt8(ascii: ".")) else { return path }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// Percent-encodes every byte that a URL can't contain in this part. Existing escapes are kept; a `%` that isn't part of an
    /// escape becomes `%25`.
    private static func encoded(_ text: Substring, keeping more: StaticString) -> String {
        let bytes = Array(text.utf8)
        var result = ""
        result.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            if isPathByte(byte) || more.withUTF8Buffer({ $0.contains(byte) }) || isEncoded(bytes, at: index) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + digits(byte >> 4) + digits(byte & 15)
            }
        }
        return result
    }

    private static func isEncoded(_ bytes: [UInt8], at index: Int) -> Bool {
        bytes[index] == UInt8(ascii: "%") && index + 2 < bytes.count && isHex(bytes[index + 1])
            && isHex(bytes[index + 2])
    }

    // The `pchar` of RFC 3986 §3.3, except percent-encoded ones.
    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: byte < 0x80 && "-._~!$&'()*+,;=:@".utf8.contains(byte)
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static func digits(_ value: UInt8) -> String { String(value, radix: 16, uppercase: true) }
}
