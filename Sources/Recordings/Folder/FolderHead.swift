internal import Foundation
internal import InterceptorsSyntax

/// The head of an answer as a person edits it: a status line and a line for each field.
///
/// ```text
/// # GET https://api.example.com/users/42
/// HTTP/1.1 200 OK
/// Content-Type: application/json
/// Cache-Control: max-age=60
/// ```
/// Empty lines, and lines that begin with a hash and a space, are comments.
struct FolderHead: Equatable {
    /// A line that is neither a status line, a field nor a comment.
    struct Malformed: Error, Equatable {
        let line: Int
        let reason: String
    }

    /// The maximum bytes of a file with a head.
    static let limit = 1 << 20

    var status: Int?
    var headers: HTTPFields = [:]
}

extension FolderHead {
    init(_ bytes: Data) throws(Malformed) {
        self.init()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Malformed(line: 1, reason: "The file isn't text in UTF-8.")
        }
        var isFirst = true
        // Some editors write a mark. Only LF and CRLF end a line: a value may contain Unicode's other line breaks.
        let content = text.utf8.dropFirst(ByteOrderMark.lengthOfUTF8(text.utf8))
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, bytes) in lines.enumerated() {
            let line = Substring(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes)
            if line.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) || line.hasPrefix("# ") || line == "#" { continue }
            if isFirst, line.hasPrefix("HTTP/") {
                status = try Self.status(of: line, number: index + 1)
            } else {
                headers.append(try Self.field(line, number: index + 1))
            }
            isFirst = false
        }
    }

    private static func status(of line: Substring, number: Int) throws(Malformed) -> Int {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count > 1, parts[1].utf8.count == 3, let status = Int(parts[1]), status >= 100 else {
            throw Malformed(line: number, reason: "A status line reads like \"HTTP/1.1 404 Not Found\".")
        }
        return status
    }

    private static func field(_ line: Substring, number: Int) throws(Malformed) -> HTTPField {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(line[..<colon])),
            let field = HTTPField(name: name, value: String(line[line.utf8.index(after: colon)...]))
        else { throw Malformed(line: number, reason: "A field reads like \"Content-Type: text/plain\".") }
        return field
    }

    /// The text of the file.
    ///
    /// - Parameter comment: what the file is about, on one line.
    func data(comment: String) -> Data {
        var text = "# \(PrintableText.line(comment))\n"
        if let status { text += "HTTP/1.1 \(status) \(HTTPResponse.Status(code: status)?.reasonPhrase ?? "")\n" }
        for field in headers { text += "\(field.name.rawName): \(field.value)\n" }
        return Data(text.utf8)
    }
}

extension HTTPFields {
    /// Removes what describes the content's way over the wire, which a file doesn't have.
    package mutating func removeFraming(keepingLength: Bool = false) {
        removeAll { field in
            switch field.name {
            case .contentLength: !keepingLength
            case .transferEncoding, .connection, "Keep-Alive", "Trailer", "Proxy-Connection": true
            default: false
            }
        }
    }

    /// Removes the digests of a content that was changed.
    mutating func removeDigests() {
        removeAll { ["Content-MD5", "Digest", "Content-Digest", "Repr-Digest"].contains($0.name) }
    }

    /// The fields without the origins of references to what a folder answers, so that a client stays at the server.
    ///
    /// - Parameter isServed: whether the folder answers requests to an origin, such as `https://api.example.com`.
    func local(isServed: (_ origin: String) -> Bool) -> HTTPFields {
        HTTPFields(
            map { field in
                guard [.location, "Content-Location"].contains(field.name), var reference = URLReference(field.value),
                    let authority = reference.authority, ["http", "https"].contains(reference.scheme ?? "https"),
                    isServed("\(reference.scheme ?? "https")://\(authority)")
                else { return field }
                (reference.scheme, reference.authority) = (nil, nil)
                if reference.path.isEmpty { reference.path = "/" }
                // Two slashes at its beginning would name another origin (RFC 3986 §4.2).
                if reference.path.utf8.starts(with: "//".utf8) { reference.path = "/." + reference.path }
                return HTTPField(unchecked: field.name, reference.text)
            }
        )
    }
}
