internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax

/// The names of the files that keep the answers to a request: one pure rule, which the article *Folders* documents.
///
/// ```text
/// GET/users/42.json                       GET /users/42
/// GET/search?q=swift&page=2.json          GET /search?q=swift&page=2
/// POST/users.201.json                     POST /users, with the status 201
/// POST/graphql#5f3a1c09.json              POST /graphql, for one of several bodies
/// GET/queue#2.json                        GET /queue, the second answer
/// cdn.example.com/GET/logo.png.png        GET https://cdn.example.com/logo.png
/// ```
struct FolderName: Hashable {
    /// The folder of an origin; `nil` if the file is for any.
    var origin: String?
    /// The folder of a method.
    var method: String
    /// The folders of the path, and its last segment with the query.
    var segments: [String]
    /// The digest that tells bodies apart; `nil` if the file is for any body.
    var body: String?

    init(
        origin: String? = nil,
        method: HTTPRequest.Method,
        url: String,
        redaction: ExchangeRedaction,
        body: String? = nil
    ) {
        let segments = Self.segments(of: url, redaction: redaction)
        self.init(origin: origin, methodFolder: Self.folder(of: method), segments: segments, body: body)
    }

    init(origin: String?, methodFolder: String, segments: [String], body: String?) {
        self.origin = origin
        method = methodFolder
        self.segments = segments
        self.body = body
    }

    /// The path of a file with this name.
    ///
    /// - Parameters:
    ///   - number: the answer's number among those for the same request, from 1.
    ///   - status: the status; left out if it is 200 and there is content.
    ///   - fileExtension: the extension of the content; `nil` if there is only a head.
    func path(number: Int = 1, status: Int, fileExtension: String?) -> [String] {
        var name = (segments.last ?? Self.emptySegment) + (body.map { "#" + $0 } ?? "")
        if number > 1 { name += "#\(number)" }
        if status != 200 || fileExtension == nil { name += ".\(status)" }
        if let fileExtension { name += "." + fileExtension }
        return folders + [name]
    }

    /// The name of files for the same requests with any body.
    var forAnyBody: FolderName { FolderName(origin: origin, methodFolder: method, segments: segments, body: nil) }

    /// The folders of every file with this name.
    var folders: [String] { [origin, method].compactMap(\.self) + segments.dropLast() }
}

extension FolderName: CustomStringConvertible {
    /// The beginning of every file with this name.
    var description: String {
        FolderPath.text(folders + [(segments.last ?? Self.emptySegment) + (body.map { "#" + $0 } ?? "")])
    }
}

extension FolderName {
    /// Stands for an empty segment: the path `/`, or what follows a trailing slash.
    static let emptySegment = "^"
    /// Stands for any method or any text.
    static let anything = "*"
    private static let segmentLimit = 150
    private static let pathLimit = 600
    private static let depthLimit = 40

    /// The folder of a method. Letters in lower case are encoded, because a file system may ignore case.
    static func folder(of method: HTTPRequest.Method) -> String {
        var name = ""
        for byte in method.rawValue.utf8 {
            let isKept =
                0x41...0x5A ~= byte || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            name += isKept ? String(UnicodeScalar(byte)) : encoded(byte)
        }
        return shortened(name)
    }

    /// The folder of an origin: `api.example.com`, `api.example.com,8443`, `http,localhost,8080`.
    ///
    /// - Parameter origin: the text of an origin without its secrets. A secret becomes a `*`.
    static func folder(ofOrigin origin: OriginText) -> String {
        var host = ""
        for byte in origin.host {
            let isKept = 0x61...0x7A ~= byte || ASCII.isDigit(byte) || "-_.*".utf8.contains(byte)
            host += isKept ? String(UnicodeScalar(byte)) : encoded(byte)
        }
        if host.hasPrefix(".") { host = "%2E" + host.dropFirst() }
        host = shortened(host)
        let isSecure = origin.scheme == "https"
        let port = origin.port.map { ",\($0)" } ?? ""
        // A dot or a comma tells the folder from that of a method.
        return (isSecure && host.contains(".") ? "" : origin.scheme + ",") + host + port
    }

    /// Whether a folder at the top is that of an origin.
    static func isOrigin(_ folder: String) -> Bool { folder.contains { $0 == "." || $0 == "," } }

    /// The folders and the last name for the path and the query of a URL, without its secrets.
    static func segments(of url: String, redaction: ExchangeRedaction) -> [String] {
        let bytes = target(of: url, redaction: redaction)
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        let query = bytes.count > path.count ? Array(bytes[(path.endIndex + 1)...]) : nil
        let parts = path.dropFirst(path.first == UInt8(ascii: "/") ? 1 : 0)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
        let all = parts.isEmpty ? [[]] : parts
        var names = all.dropLast().map(folderName)
        names.append(lastName(all.last ?? [], query: query))
        let length = names.reduce(0) { $0 + $1.utf8.count + 1 }
        guard length > pathLimit || names.count > depthLimit else { return names }
        return ["^^" + digest(names.flatMap { Array($0.utf8) + [UInt8(ascii: "/")] }, bytes: 16)]
    }

    /// Path and query in bytes. A NUL stands for a secret.
    private static func target(of url: String, redaction: ExchangeRedaction) -> [UInt8] {
        var rest = Array(redaction.url(url).utf8.prefix { $0 != UInt8(ascii: "#") })[...]
        let head = rest.prefix { $0 != UInt8(ascii: "?") }
        if let mark = head.firstRange(of: Array("://".utf8)), !head[..<mark.lowerBound].contains(UInt8(ascii: "/")) {
            rest = rest[mark.upperBound...].drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        }
        let secret = Array((redaction.redaction?.placeholder ?? "").utf8)
        return secret.isEmpty ? Array(rest) : Array(rest).replacing(secret, with: [0])
    }

    /// A segment as the name of a folder. No name of a file equals it, because every file has an extension.
    static func folderName(_ segment: [UInt8]) -> String {
        var name = encoded(segment)
        if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) {
            let ending = name.utf8[name.utf8.index(after: dot)...]
            if AnswerFileName.isExtension(ending) { name.replaceSubrange(dot...dot, with: "%2E") }
        }
        return name.isEmpty ? emptySegment : shortened(name)
    }

    /// The last segment and the query as the beginning of a file's name. A NUL stands for a `*`.
    static func lastName(_ segment: [UInt8], query: [UInt8]?) -> String {
        var name = segment.isEmpty ? emptySegment : encoded(segment)
        if let query { name += "?" + encoded(query) }
        if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")),
            AnswerFileName.status(name.utf8[dot...].dropFirst()) != nil
        {
            name.replaceSubrange(dot...dot, with: "%2E")
        }
        return shortened(name)
    }

    private static func encoded(_ byte: UInt8) -> String {
        "%" + String(decoding: Hexadecimal.digits(of: byte, .upperCase), as: UTF8.self)
    }

    /// The part of a URL in characters that every file system keeps apart.
    private static func encoded(_ bytes: [UInt8]) -> String {
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
            name += spelled(byte, isTriplet: isTriplet, isFirst: name.isEmpty)
        }
        return name
    }

    private static func spelled(_ byte: UInt8, isTriplet: Bool, isFirst: Bool) -> String {
        switch byte {
        case 0 where !isTriplet: return anything
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            return String(UnicodeScalar(byte))
        case UInt8(ascii: "."): return isFirst ? "%2E" : "."
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return "^" + String(UnicodeScalar(byte | 0x20))
        // Delimiters: encoded, they mean something else (RFC 3986 §2.2).
        case UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "@"):
            return isTriplet ? encoded(byte) : String(UnicodeScalar(byte))
        default: return encoded(byte)
        }
    }

    /// A name that a file system can hold: the beginning of a long one, and the digest of the whole.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > segmentLimit else { return name }
        var kept = Substring(name.utf8.prefix(90))
        // No cut within an escape.
        if let mark = kept.utf8.suffix(2).lastIndex(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "^") }) {
            kept = kept[..<mark]
        }
        return kept + "^^" + digest(Array(name.utf8), bytes: 16)
    }

    static func digest(_ bytes: [UInt8], bytes count: Int) -> String {
        PortableSHA256.digest(bytes).prefix(count).hexadecimal
    }
}
