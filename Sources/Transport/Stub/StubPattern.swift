internal import HTTPSyntax

/// A URL pattern of a stub, or of a server's route. ``StubTransport`` documents the syntax.
package struct StubPattern: Sendable {
    package let text: String
    private let scheme: [UInt8]?
    private let host: Glob?
    private let port: Int?
    private let segments: [Segment]
    private let items: [(name: [UInt8], value: Glob?)]

    private enum Segment: Sendable {
        case rest
        case one(Glob)
    }

    package init(_ text: String) {
        self.text = text
        let parts = URLParts(text)
        scheme = parts.scheme
        host = parts.host.map { Glob($0) }
        port = parts.port
        segments = parts.segments.map { $0.elementsEqual("**".utf8) ? .rest : .one(Glob($0)) }
        items = parts.items.map { ($0.name.percentDecoded, $0.value.map { Glob($0) }) }
    }

    /// Whether a URL matches, given as an absolute URL or as path and query.
    package func matches(_ url: String) -> Bool {
        let parts = URLParts(url)
        if let scheme {
            guard scheme == parts.scheme, port == parts.port else { return false }
            guard let host, let named = parts.host, host.matches(named) else { return false }
        }
        let sent = parts.items.map { (name: $0.name.percentDecoded, value: ($0.value ?? []).percentDecoded) }
        let hasItems = items.allSatisfy { item in
            sent.contains { $0.name == item.name && item.value?.matches($0.value) ?? true }
        }
        return hasItems && matches(path: parts.segments.map(\.percentDecoded))
    }

    // Backtracks only to the last `**`: letting an earlier one match more segments never helps.
    private func matches(path: [[UInt8]]) -> Bool {
        var inPath = 0
        var inPattern = 0
        var rest: (inPath: Int, inPattern: Int)?
        while inPath < path.count {
            if inPattern < segments.count, case .rest = segments[inPattern] {
                inPattern += 1
                rest = (inPath, inPattern)
            } else if inPattern < segments.count, case .one(let glob) = segments[inPattern],
                glob.matchesSegment(path[inPath])
            {
                inPath += 1
                inPattern += 1
            } else if let last = rest {
                rest = (last.inPath + 1, last.inPattern)
                inPath = last.inPath + 1
                inPattern = last.inPattern
            } else {
                return false
            }
        }
        return segments[inPattern...].allSatisfy { if case .rest = $0 { true } else { false } }
    }
}

/// Text in which `*` matches any number of bytes.
private struct Glob: Sendable {
    private let pieces: [[UInt8]]

    init(_ pattern: [UInt8]) {
        pieces = pattern.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map { Array($0).percentDecoded }
    }

    /// Matches like ``matches(_:)``, except that an empty segment doesn't match a pattern with `*`.
    func matchesSegment(_ bytes: [UInt8]) -> Bool {
        !(bytes.isEmpty && pieces.count > 1) && matches(bytes)
    }

    func matches(_ bytes: [UInt8]) -> Bool {
        guard let first = pieces.first, let last = pieces.last, pieces.count > 1 else { return pieces.first == bytes }
        guard bytes.count >= first.count + last.count, bytes.starts(with: first),
            bytes.suffix(last.count).elementsEqual(last)
        else { return false }
        var rest = bytes[first.count..<(bytes.count - last.count)]
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let found = rest.firstRange(of: piece) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}

/// The parts of a URL or of a URL pattern, split by the same rules.
private struct URLParts {
    var scheme: [UInt8]?
    var host: [UInt8]?
    var port: Int?
    private(set) var segments: [[UInt8]] = []
    let items: [(name: [UInt8], value: [UInt8]?)]

    init(_ text: String) {
        let whole = Array(text.utf8.prefix { $0 != UInt8(ascii: "#") })
        var rest = whole.prefix { $0 != UInt8(ascii: "?") }
        items = whole.dropFirst(rest.count + 1).split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return (Array(name), name.count == item.count ? nil : Array(item.dropFirst(name.count + 1)))
        }
        if let mark = rest.firstRange(of: Array("://".utf8)), !rest[..<mark.lowerBound].contains(UInt8(ascii: "/")) {
            scheme = rest[..<mark.lowerBound].map(ASCII.lowercased)
            let authority = rest[mark.upperBound...].prefix { $0 != UInt8(ascii: "/") }
            rest = rest[authority.endIndex...]
            readAuthority(authority)
        }
        if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
        segments = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
    }

    private mutating func readAuthority(_ authority: ArraySlice<UInt8>) {
        let named = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        port = scheme == Array("https".utf8) ? 443 : 80
        guard let colon = named.lastIndex(of: UInt8(ascii: ":")), !named[colon...].contains(UInt8(ascii: "]")) else {
            host = named.map(ASCII.lowercased)
            return
        }
        host = named[..<colon].map(ASCII.lowercased)
        port = Int(String(decoding: named[(colon + 1)...], as: UTF8.self)) ?? port
    }
}
