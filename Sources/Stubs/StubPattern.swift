internal import InterceptorsSyntax

/// A URL pattern of a stub, or of a server's route. ``StubTransport`` documents the syntax.
package struct StubPattern: Sendable {
    package let text: String
    private let scheme: [UInt8]?
    private let host: Glob?
    private let port: Int?
    /// The path's segments; `nil` stands for `**`.
    private let segments: [Glob?]
    private let items: [(name: [UInt8], value: Glob)]

    package init(_ text: String) {
        self.text = text
        let parts = URLParts(text)
        scheme = parts.scheme
        host = parts.host.map { Glob($0) }
        port = parts.port
        segments = parts.segments.map { $0.elementsEqual("**".utf8) ? nil : Glob($0) }
        items = parts.items.map { ($0.name.percentDecoded, Glob($0.value ?? Array("*".utf8))) }
    }

    /// Whether a URL matches, given as an absolute URL or as path and query.
    package func matches(_ url: String) -> Bool {
        let parts = URLParts(url)
        if let scheme {
            guard scheme == parts.scheme, port == parts.port else { return false }
            guard let host, let named = parts.host, host.matches(named) else { return false }
        }
        let sent = parts.items.map { (name: $0.name.percentDecoded, value: ($0.value ?? []).percentDecoded) }
        let hasItems = items.allSatisfy { item in sent.contains { $0.name == item.name && item.value.matches($0.value) }
        }
        return hasItems && matches(path: parts)
    }

    /// Whether the path of a URL matches, whatever its origin and query.
    package func matchesPath(of url: String) -> Bool { matches(path: URLParts(url)) }

    private func matches(path parts: URLParts) -> Bool {
        wildcard(segments, covers: parts.segments.map(\.percentDecoded)) { $0.matchesSegment($1) }
    }

    /// Whether this pattern matches every URL that the other pattern matches.
    ///
    /// The comparison is part by part, so it misses some matches: for `**/*` and `*/**`, the result is `false`.
    package func covers(_ other: Self) -> Bool {
        if let scheme {
            guard scheme == other.scheme, port == other.port else { return false }
            guard let host, let theirs = other.host, host.covers(theirs) else { return false }
        }
        let hasItems = items.allSatisfy { item in
            other.items.contains { $0.name == item.name && item.value.covers($0.value) }
        }
        return hasItems && wildcard(segments, covers: other.segments) { $0.coversSegment($1) }
    }
}

extension StubPattern {
    /// The number of bytes to insert, remove or replace until the path of a URL matches.
    package func distance(toPathOf url: String) -> Int {
        let slash = UInt8(ascii: "/")
        let path = URLParts(url).segments.flatMap { [slash] + $0.percentDecoded }
        let tokens = segments.flatMap { [slash] + ($0?.tokens ?? [nil]) }
        // Long texts count as different, because computing the distance takes time proportional to the product of their
        // lengths.
        guard tokens.count <= 400, path.count <= 400 else { return max(tokens.count, path.count) }
        var row = Array(0...path.count)
        for token in tokens {
            var next = [row[0] + (token == nil ? 0 : 1)]
            for (index, byte) in path.enumerated() {
                if let token {
                    next.append(min(row[index] + (token == byte ? 0 : 1), row[index + 1] + 1, next[index] + 1))
                } else {
                    next.append(min(row[index + 1], next[index]))
                }
            }
            row = next
        }
        return row[path.count]
    }

    /// The number of bytes of a URL's path, the slashes included.
    package static func pathLength(of url: String) -> Int { URLParts(url).segments.reduce(0) { $0 + $1.count + 1 } }
}

/// Whether one sequence matches everything that another sequence matches. In both, `nil` matches any number of elements.
///
/// Backtracks only to the last `nil`: letting an earlier one match more elements never helps.
private func wildcard<Wide, Narrow>(
    _ wide: [Wide?],
    covers narrow: [Narrow?],
    by matches: (Wide, Narrow) -> Bool
) -> Bool {
    var inWide = 0
    var inNarrow = 0
    var rest: (inWide: Int, inNarrow: Int)?
    while inNarrow < narrow.count {
        if inWide < wide.count, wide[inWide] == nil {
            inWide += 1
            rest = (inWide, inNarrow)
        } else if inWide < wide.count, let one = wide[inWide], let other = narrow[inNarrow], matches(one, other) {
            inWide += 1
            inNarrow += 1
        } else if let last = rest {
            rest = (last.inWide, last.inNarrow + 1)
            inNarrow = last.inNarrow + 1
            inWide = last.inWide
        } else {
            return false
        }
    }
    return wide[inWide...].allSatisfy { $0 == nil }
}

/// Text in which `*` matches any number of bytes.
private struct Glob: Sendable {
    private let pieces: [[UInt8]]

    init(_ pattern: [UInt8]) {
        pieces = pattern.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map { Array($0).percentDecoded }
    }

    /// Matches like ``matches(_:)``, except that an empty segment doesn't match a pattern with `*`.
    func matchesSegment(_ bytes: [UInt8]) -> Bool { !(bytes.isEmpty && pieces.count > 1) && matches(bytes) }

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

    /// The bytes; `nil` stands for `*`.
    var tokens: [UInt8?] { Array(pieces.map { $0.map(Optional.some) }.joined(separator: [nil])) }

    func covers(_ other: Self) -> Bool { wildcard(tokens, covers: other.tokens, by: ==) }

    func coversSegment(_ other: Self) -> Bool { !(other.pieces == [[]] && pieces.count > 1) && covers(other) }
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
