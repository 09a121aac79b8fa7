internal import InterceptorsSyntax

/// The parts of a URL's text. The text needn't be a valid URL, because it is redacted.
struct RecordedURL {
    /// An item of a query or of a form, decoded.
    struct Item: Equatable {
        let name: [UInt8]
        let value: [UInt8]

        /// Name and value with the name's length, because a decoded name may contain any byte.
        var canonical: [UInt8] {
            var bytes = CanonicalBytes()
            bytes.append(section: name)
            bytes.append(value)
            return bytes.bytes
        }
    }

    /// In lower case; empty if the URL has none.
    let scheme: [UInt8]
    /// In lower case, without a user; empty if the URL has none.
    let host: [UInt8]
    let port: [UInt8]
    /// The path, decoded except for `%2F` and `%25`.
    let path: [UInt8]
    let items: [Item]

    init(_ text: String) {
        let whole = Array(text.utf8)
        let end = whole.firstIndex(of: UInt8(ascii: "#")) ?? whole.count
        let mark = whole[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        var rest = whole[..<mark]
        var authority: ArraySlice<UInt8> = []
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[(colon + 1)...].starts(with: "//".utf8) {
            scheme = rest[..<colon].map(ASCII.lowercased)
            rest = rest[(colon + 3)...]
            let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? mark
            authority = rest[..<slash]
            rest = rest[slash...]
        } else {
            scheme = []
        }
        (host, port) = Self.hostAndPort(authority, isSecure: scheme.count == 5)
        path = rest.isEmpty ? [UInt8(ascii: "/")] : Self.decodedPath(rest)
        items = mark < end ? Self.items(whole[(mark + 1)..<end]) : []
    }

    /// The items of a query or of a form's content.
    static func items(_ text: ArraySlice<UInt8>) -> [Item] {
        text.split(separator: UInt8(ascii: "&")).map { item in
            let sign = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            return Item(name: decoded(item[..<sign]), value: decoded(item[sign...].dropFirst()))
        }
    }

    func appendOrigin(to key: inout CanonicalBytes) {
        key.append(scheme)
        key.append(section: host)
        key.append(port)
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return Array(text) }
        return text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }.percentDecoded
    }

    private static func decodedPath(_ path: ArraySlice<UInt8>) -> [UInt8] {
        guard path.contains(UInt8(ascii: "%")) else { return Array(path) }
        var result: [UInt8] = []
        for (index, segment) in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).enumerated()
        {
            if index > 0 { result.append(UInt8(ascii: "/")) }
            for byte in Array(segment).percentDecoded {
                switch byte {
                case UInt8(ascii: "/"): result += "%2F".utf8
                case UInt8(ascii: "%"): result += "%25".utf8
                default: result.append(byte)
                }
            }
        }
        return result
    }

    private static func hostAndPort(
        _ authority: ArraySlice<UInt8>,
        isSecure: Bool
    ) -> (host: [UInt8], port: [UInt8]) {
        var host = authority
        if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
        var port = Array((isSecure ? "443" : "80").utf8)
        if let colon = host.lastIndex(of: UInt8(ascii: ":")), !host[colon...].contains(UInt8(ascii: "]")) {
            if colon + 1 < host.endIndex { port = Array(host[(colon + 1)...]) }
            host = host[..<colon]
        }
        return (host.map(ASCII.lowercased), authority.isEmpty ? [] : port)
    }
}
