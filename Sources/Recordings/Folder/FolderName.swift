internal import Foundation
internal import InterceptorsSyntax

/// The name of the file that answers a request: `[HOST/]METHOD/PATH[?QUERY]`, to which the file adds an extension.
///
/// ```text
/// api.example.com/GET/users/42            GET https://api.example.com/users/42
/// GET/search?q=swift&page=2               GET /search?q=swift&page=2 of any host
/// GET/index                               GET /
/// ```
/// The article *Folders* documents the rule.
struct FolderName: Hashable {
    /// The folder of the host; `nil` if the file answers any host.
    var host: String?
    /// The folder of the method.
    var method: String
    /// The folders of the path, and its last segment with the query. Never empty for a file.
    var segments: [String]

    /// Stands for any method or any text.
    static let anything = "*"
    /// Stands for an empty segment: the path `/`, or what follows a trailing slash.
    static let emptySegment = "index"
    /// The segment with the text of an empty one.
    static let literalIndex = "%69ndex"
    // File systems allow 255 bytes for a name, of which an extension and `.head` need 16.
    private static let segmentLimit = 200
    // macOS allows 1,024 bytes for a path.
    private static let pathLimit = 600
    private static let depthLimit = 40
}

extension FolderName {
    /// The name of a request.
    ///
    /// - Parameter isRedacted: whether the URL may contain the placeholder of a secret. A `*` takes its place, so that the file answers
    ///   whatever the secret is.
    init(_ request: HTTPRequest.Method, _ url: String, isRedacted: Bool = false) {
        let placeholder = Array(ExchangeRedaction.placeholder.utf8)
        let url = RecordedURL(isRedacted ? Array(url.utf8).replacing(placeholder, with: [0]) : Array(url.utf8))
        var segments = url.writtenPath.dropFirst(url.writtenPath.first == UInt8(ascii: "/") ? 1 : 0)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Self.segment($0, isPattern: isRedacted) }
        var last = segments.popLast() ?? Self.emptySegment
        if let query = url.query { last += "?" + Self.encoded(query, isPattern: isRedacted) }
        let method = Self.folder(of: request)
        self.init(host: Self.host(url), method: method, segments: Self.shortened(segments + [last]))
    }

    /// The name for which a person's or a recorder's file is; `nil` if the file isn't in the folder of a method.
    ///
    /// - Parameter path: the path of the file without its extension.
    init?(file path: [String]) {
        var folders = path.dropLast()
        let host = folders.first.flatMap { Self.isMethod($0) ? nil : $0 }
        if host != nil { folders = folders.dropFirst() }
        guard let method = folders.popFirst(), Self.isMethod(method), let last = path.last else { return nil }
        let query = last.firstIndex(of: "?")
        var name = Self.readSegment(last[..<(query ?? last.endIndex)])
        if let query { name += "?" + Self.encoded(Self.bytes(last[query...].dropFirst()), isPattern: true) }
        // A shortened name has no other spelling.
        let segments = last.contains("#") ? path.suffix(folders.count + 1) : folders.map(Self.readSegment) + [name]
        self.init(host: host, method: method, segments: Self.shortened(Array(segments)))
    }

    /// The path of a file with content of a type.
    func path(extension ending: String) -> [String] { folders + ["\(last).\(ending)"] }

    /// The path of the head of an answer without content. The dot of what would be read as an extension is encoded.
    var emptyPath: [String] {
        let ending = FileExtension.split(last).fileExtension.map { $0.count + 1 } ?? 0
        return folders + [ending == 0 ? last : last.dropLast(ending) + "%2E" + last.suffix(ending - 1)]
    }

    /// Whether a file in the folder of this name's files is one of them: with any extension, or a head.
    func isName(ofFile file: String) -> Bool {
        let isHead = file.hasSuffix(FolderTable.headEnding)
        let content = isHead ? String(file.dropLast(FolderTable.headEnding.count)) : file
        return FileExtension.split(content).base == last || isHead && content == emptyPath.last
    }

    private var last: String { segments.last ?? Self.emptySegment }
    private var folders: [String] { [host, method].compactMap(\.self) + segments.dropLast() }

    /// The same name without its query.
    var withoutQuery: FolderName {
        FolderName(host: host, method: method, segments: segments.dropLast() + [String(last.prefix { $0 != "?" })])
    }

    var isPattern: Bool { segments.contains { $0.contains(Self.anything) } }

    /// The requests that the name stands for; `nil` for a shortened name, which stands for one URL.
    var scope: StubScope? {
        guard !segments.contains(where: { $0.contains("#") }) else { return nil }
        let path = segments.map { segment in
            let isEmpty = segment == Self.emptySegment || segment.hasPrefix(Self.emptySegment + "?")
            return isEmpty ? String(segment.dropFirst(Self.emptySegment.count)) : segment
        }
        let method = method == Self.anything ? nil : HTTPRequest.Method(rawValue: method.removingPercentEncoding ?? "")
        return StubScope(method, "/" + path.joined(separator: "/"))
    }
}

extension FolderName: CustomStringConvertible {
    var description: String { FolderPath.text(folders + [last]) }
}

// MARK: Spelling

extension FolderName {
    /// The folder of a URL's host: `api.example.com`, with another port than the scheme's `localhost,8080`.
    ///
    /// - Returns: `nil` without a host, and for one that is a secret.
    static func host(_ url: RecordedURL) -> String? {
        let (host, port) = url.origin
        guard !host.isEmpty, !host.contains(0) else { return nil }
        let name = shortened([encoded(host, isPattern: false)])[0]
        return port == url.usualPort ? name : name + "," + encoded(port, isPattern: false)
    }

    /// The folder of a method. It begins with a capital or a `%`, by which it differs from the folder of a host.
    static func folder(of method: HTTPRequest.Method) -> String {
        let name = method.rawValue.utf8.enumerated().reduce(into: "") { name, next in
            let isKept = 0x41...0x5A ~= next.element || next.offset > 0 && "-_0123456789".utf8.contains(next.element)
            name += isKept ? String(UnicodeScalar(next.element)) : triplet(next.element)
        }
        return shortened([name])[0]
    }

    private static func isMethod(_ folder: String) -> Bool {
        guard folder != anything, let method = HTTPRequest.Method(rawValue: folder.removingPercentEncoding ?? "") else {
            return folder == anything
        }
        return folder == self.folder(of: method)
    }

    private static func segment(_ bytes: some Sequence<UInt8>, isPattern: Bool) -> String {
        let name = encoded(bytes, isPattern: isPattern)
        return name.isEmpty ? emptySegment : name == emptySegment ? literalIndex : name
    }

    private static func readSegment(_ text: some StringProtocol) -> String {
        text == emptySegment ? emptySegment : segment(bytes(text), isPattern: true)
    }

    /// The text of a pattern, in which a NUL stands for a `*`.
    private static func bytes(_ text: some StringProtocol) -> [UInt8] {
        text.utf8.map { $0 == UInt8(ascii: "*") ? 0 : $0 }
    }

    private static func triplet(_ byte: UInt8) -> String {
        "%" + String(decoding: Hexadecimal.digits(of: byte, .upperCase), as: UTF8.self)
    }

    /// A part of a URL in ASCII that every file system keeps. Equal for URLs that differ only in needless percent-encoding
    /// (RFC 3986 §6.2.2).
    ///
    /// - Parameter isPattern: whether a NUL stands for a `*`.
    private static func encoded(_ part: some Sequence<UInt8>, isPattern: Bool) -> String {
        let bytes = Array(part)
        var name = ""
        var index = 0
        while index < bytes.count {
            var byte = bytes[index]
            var isTriplet = false
            if byte == UInt8(ascii: "%"), index + 2 < bytes.count, let high = ASCII.hexadecimalValue(bytes[index + 1]),
                let low = ASCII.hexadecimalValue(bytes[index + 2])
            {
                byte = high << 4 | low
                isTriplet = true
                index += 2
            }
            index += 1
            let isDelimiter = "=&+,@;".utf8.contains(byte)
            let isKept = ASCII.isAlphanumeric(byte) || "-_~.".utf8.contains(byte) || isDelimiter && !isTriplet
            // A name that begins with a dot is hidden, or leads to another folder.
            let isHidden = byte == UInt8(ascii: ".") && name.isEmpty
            if byte == 0, isPattern, !isTriplet {
                name += anything
            } else {
                name += isKept && !isHidden ? String(UnicodeScalar(byte)) : triplet(byte)
            }
        }
        return name
    }

    /// Names that file systems and tools can hold: the beginning of a long one, and the digest of the whole after a `#`.
    private static func shortened(_ segments: [String]) -> [String] {
        let length = segments.reduce(0) { $0 + $1.utf8.count + 1 }
        let isShort = length <= pathLimit && segments.count <= depthLimit
        return (isShort ? segments : [segments.joined(separator: "%2F") + "%2F"]).map { name in
            guard !isShort || name.utf8.count > segmentLimit else { return name }
            var kept = name.prefix(150)
            // No cut within a triplet.
            if let mark = kept.suffix(2).lastIndex(of: "%") { kept = kept[..<mark] }
            return kept + "#" + PortableSHA256.digest(Array(name.utf8)).prefix(16).hexadecimal
        }
    }
}
