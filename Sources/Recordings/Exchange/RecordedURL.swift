internal import InterceptorsSyntax

/// The parts of a URL's text. The text needn't be a valid URL, because it is redacted.
struct RecordedURL {
    /// An item of a query or of a form, decoded.
    struct Item: Equatable {
        let name: [UInt8]
        let value: [UInt8]
    }

    /// In lower case; empty if the URL has none.
    let scheme: [UInt8]
    private let authority: ArraySlice<UInt8>
    /// The path as it is written.
    let writtenPath: ArraySlice<UInt8>
    /// The query as it is written; `nil` if the URL has none.
    let query: ArraySlice<UInt8>?

    init(_ text: [UInt8]) {
        let url = text.prefix { $0 != UInt8(ascii: "#") }
        let head = url.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "/") }
        let hasAuthority = head.last == UInt8(ascii: ":") && url[head.endIndex...].starts(with: "//".utf8)
        scheme = hasAuthority ? head.dropLast().map(ASCII.lowercased) : []
        let rest = hasAuthority ? url[head.endIndex...].dropFirst(2) : url
        authority = hasAuthority ? rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "/") } : []
        let target = hasAuthority ? rest[authority.endIndex...] : rest
        writtenPath = target.prefix { $0 != UInt8(ascii: "?") }
        query = writtenPath.endIndex < target.endIndex ? target[writtenPath.endIndex...].dropFirst() : nil
    }

    init(_ text: String) { self.init(Array(text.utf8)) }

    /// The host in lower case, without a user, and the port, which may be the scheme's. Empty if the URL has none.
    var origin: (host: [UInt8], port: [UInt8]) {
        var host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        var port: ArraySlice<UInt8> = []
        if let colon = host.lastIndex(of: UInt8(ascii: ":")), !host[colon...].contains(UInt8(ascii: "]")) {
            port = host[(colon + 1)...]
            host = host[..<colon]
        }
        if port.isEmpty, !host.isEmpty { port = usualPort[...] }
        return (host.map(ASCII.lowercased), Array(port))
    }

    var usualPort: [UInt8] { Array((scheme.elementsEqual("https".utf8) ? "443" : "80").utf8) }

    /// The path, decoded except for `%2F` and `%25`.
    var path: [UInt8] { writtenPath.isEmpty ? [UInt8(ascii: "/")] : Self.decodedPath(writtenPath) }
    var items: [Item] { query.map(Self.items) ?? [] }

    /// The items of a query or of a form's content.
    static func items(_ text: ArraySlice<UInt8>) -> [Item] {
        text.split(separator: UInt8(ascii: "&")).map { item in
            let sign = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            return Item(name: decoded(item[..<sign]), value: decoded(item[sign...].dropFirst()))
        }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return Array(text) }
        return text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }.percentDecoded
    }

    private static func decodedPath(_ path: ArraySlice<UInt8>) -> [UInt8] {
        guard path.contains(UInt8(ascii: "%")) else { return Array(path) }
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
            Array(segment).percentDecoded.flatMap { byte in
                switch byte {
                case UInt8(ascii: "/"): Array("%2F".utf8)
                case UInt8(ascii: "%"): Array("%25".utf8)
                default: [byte]
                }
            }
        }
        return Array(segments.joined(separator: [UInt8(ascii: "/")]))
    }
}
