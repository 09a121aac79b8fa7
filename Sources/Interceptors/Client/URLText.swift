internal import Foundation
internal import InterceptorsSyntax
public import InterceptorsTransport

/// The textual pieces of a URL that joining needs.
///
/// Searches compare bytes: a search by characters would miss a slash followed by a combining accent.
struct URLText {
    /// `https://user@host:port`, without the path.
    let root: String
    private(set) var path: String
    private(set) var query: String?

    /// An absolute http or https URL, checked and percent-encoded.
    init(absolute text: String) throws {
        let (rest, query) = Self.splitQuery(of: text)
        let (scheme, afterScheme) = rest.split(at: UInt8(ascii: ":"))
        let name = scheme.lowercased()
        guard let afterScheme, afterScheme.utf8.starts(with: "//".utf8) else {
            throw Self.failure("is not an absolute URL, which begins with http:// or https://", text)
        }
        guard name == "http" || name == "https" else {
            throw Self.failure("has a scheme other than http and https", text)
        }
        let (authority, path) = Substring(afterScheme.utf8.dropFirst(2)).split(at: UInt8(ascii: "/"))
        self.root = try Self.root(scheme: name, authority: authority, of: text)
        self.path = try path.map { try Self.resolvingDots("/" + PercentEncoding.path($0), of: text) } ?? ""
        self.query = query.map { PercentEncoding.query($0) }
    }

    /// The base URL of a client.
    init(base: URL) throws {
        do {
            try self.init(absolute: base.absoluteString)
        } catch let error as TransportError {
            throw TransportError(error.code, "The client's base URL can't be used: \(error.message)")
        }
    }

    /// Whether text is read as an absolute URL: one that begins with a scheme and `://`, or with `http:` or `https:`.
    static func isAbsolute(_ text: String) -> Bool {
        let (scheme, rest) = text[...].split(at: UInt8(ascii: ":"))
        guard let rest, URLReference.isScheme(scheme) else { return false }
        let name = scheme.lowercased()
        return name == "http" || name == "https" || rest.utf8.starts(with: "//".utf8)
    }

    /// The URL of a relative target below this one.
    func joined(with text: String) throws -> URLText {
        let (path, query) = Self.splitQuery(of: text)
        var joined = self
        if !path.isEmpty {
            let below = path.utf8.first == UInt8(ascii: "/") ? Substring(path.utf8.dropFirst()) : path
            let base = self.path.utf8.last == UInt8(ascii: "/") ? self.path.dropLast() : self.path[...]
            joined.path = base + (try Self.resolvingDots("/" + PercentEncoding.path(below), of: text))
        }
        if let query { joined.append(query: PercentEncoding.query(query)) }
        return joined
    }

    /// Appends an encoded query to the present one.
    mutating func append(query more: String) {
        guard !more.isEmpty else { return }
        query = if let query, !query.isEmpty { "\(query)&\(more)" } else { more }
    }

    /// The URL. An error shows `text`.
    func url(madeFrom text: String) throws -> URL {
        let whole = root + path + (query.map { "?\($0)" } ?? "")
        guard let url = URL(string: whole, encodingInvalidCharacters: false) else {
            throw Self.failure("is not a URL", text)
        }
        return url
    }
}

extension URLText {
    private static func splitQuery(of text: String) -> (rest: Substring, query: Substring?) {
        let (rest, query) = text[...].split(at: UInt8(ascii: "#")).before.split(at: UInt8(ascii: "?"))
        return (rest, query)
    }

    private static func root(scheme: String, authority: Substring, of text: String) throws -> String {
        guard !authority.isEmpty else { throw failure("names no host", text) }
        // Parsers disagree about a backslash in an authority, and so about the host it names.
        guard !authority.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }),
            let url = URL(string: "\(scheme)://\(authority)"), let host = url.host(percentEncoded: true), !host.isEmpty
        else { throw failure("names no valid host", text) }
        if let port = url.port, !(1...65535).contains(port) { throw failure("has an impossible port", text) }
        return url.absoluteString
    }

    /// The encoded path after removing dot segments (RFC 3986 §5.2.4).
    ///
    /// Percent-encoded dot segments are refused, because some servers and proxies decode and follow them.
    private static func resolvingDots(_ path: String, of text: String) throws -> String {
        // Most paths have no segment that begins with a dot, encoded or not.
        let bytes = path.utf8
        let mayHaveDots = zip(bytes, bytes.dropFirst()).contains { byte, next in
            byte == UInt8(ascii: "/") && (next == UInt8(ascii: ".") || next == UInt8(ascii: "%"))
        }
        guard mayHaveDots else { return path }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let decoded = segments.map { segment in
            guard segment.utf8.contains(UInt8(ascii: "%")) else { return segment }
            return Substring(segment.replacing("%2E", with: ".").replacing("%2e", with: "."))
        }
        for (segment, plain) in zip(segments, decoded) where (plain == "." || plain == "..") && segment != plain {
            throw failure("has a segment that is an encoded . or .., which names another resource", text)
        }
        return DotSegments.removed(from: path)
    }
}

extension URLText {
    /// The text in printable form: bounded, and without anything that may be a user, a password, a query or a fragment.
    static func redacted(_ text: String) -> String {
        let bytes = text.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        var shown = String(text[..<end])
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")) {
            // In text that is no URL, a password may extend up to the last `@`.
            shown = Redaction.standard.placeholder + (at < end ? text[at..<end] : "")
        }
        let start = shown.unicodeScalars.prefix(200)
        let isCut = start.endIndex != shown.endIndex || end != bytes.endIndex
        return String(start) + (isCut ? "…" : "")
    }

    /// One pair of a query in printable form, with secrets redacted.
    static func redacted(pair: String) -> String {
        guard let url = URL(string: "?" + pair, encodingInvalidCharacters: false) else {
            return Redaction.standard.placeholder
        }
        return String(Redaction.standard.string(for: url).dropFirst())
    }

    static func failure(_ problem: String, _ text: String) -> TransportError {
        TransportError(.unsupportedURL, "\"\(PrintableText.line(redacted(text)))\" \(problem).")
    }
}

extension Substring {
    /// The text before and after the first such byte. `after` is `nil` if there is no such byte.
    fileprivate func split(at byte: UInt8) -> (before: Substring, after: Substring?) {
        guard let index = utf8.firstIndex(of: byte) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }
}

extension HTTPRequest {
    /// Creates a request for an absolute http or https URL, percent-encoding the text where necessary.
    ///
    /// - Throws: `TransportError` with code `unsupportedURL` and a message that explains the problem.
    public init(method: Method = .get, string: String) throws {
        self.init(method: method, url: try URLText(absolute: string).url(madeFrom: string))
    }
}
