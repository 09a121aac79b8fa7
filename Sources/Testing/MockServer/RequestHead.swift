internal import Foundation
internal import InterceptorsSyntax

/// The head of a request, parsed strictly (RFC 9112), so that tests catch mistakes that lenient servers forgive.
struct RequestHead {
    /// The framing of the content (RFC 9112 §6).
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    typealias Ending = ServerConnection.Ending

    let request: MockServer.Request
    let framing: Framing
    let keepsAlive: Bool
    let expectsContinue: Bool

    /// Parses a head.
    ///
    /// - Parameter lines: the request line and the field lines, without their CR LF.
    init(_ lines: [[UInt8]]) throws(Ending) {
        let fields = try Self.fields(of: lines.dropFirst())
        request = try MockServer.Request(line: lines.first ?? [], fields)
        let isLatest = request.version == "1.1"
        let hosts = fields[values: .host].count
        guard hosts == 1 || (hosts == 0 && !isLatest) else {
            throw .bad("HTTP/1.1 wants one Host field; there are \(hosts) (RFC 9112 §3.2).")
        }
        framing = try Self.framing(of: fields, isLatest: isLatest)
        let connection = try Self.tokens(of: fields, .connection)
        keepsAlive = isLatest ? !connection.contains("close") : connection.contains("keep-alive")
        let expectations = try Self.tokens(of: fields, .expect)
        guard expectations.allSatisfy({ $0 == "100-continue" }) else {
            throw .refused(417, "The only known expectation is 100-continue (RFC 9110 §10.1.1).")
        }
        expectsContinue = isLatest && !expectations.isEmpty
    }

    /// The fields of a head or a trailer section.
    static func fields(of lines: some Collection<[UInt8]>) throws(Ending) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                throw .bad("A field line has no colon, or is a folded one (RFC 9112 §5).")
            }
            guard let name = HTTPField.Name(text(line[..<colon])) else {
                throw .bad("A field name is no token, or a space stands before its colon (RFC 9112 §5.1).")
            }
            guard let field = HTTPField(name: name, value: text(line[(colon + 1)...])) else {
                throw .bad("The value of the field \(name) holds a control character (RFC 9110 §5.5).")
            }
            fields.append(field)
        }
        return fields
    }

    private static func framing(of fields: HTTPFields, isLatest: Bool) throws(Ending) -> Framing {
        let lengths = fields[values: .contentLength].flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t")) }
        if fields.contains(.transferEncoding) {
            guard lengths.isEmpty else {
                throw .bad("Both Transfer-Encoding and Content-Length frame the content (RFC 9112 §6.3).")
            }
            guard isLatest else { throw .bad("HTTP/1.0 knows no Transfer-Encoding (RFC 9112 §6.1).") }
            let codings = try tokens(of: fields, .transferEncoding)
            guard codings.last == "chunked" else {
                throw .bad("The last transfer coding of a request must be chunked (RFC 9112 §6.3).")
            }
            guard codings.count == 1 else { throw .refused(501, "The only known transfer coding is chunked.") }
            return .chunked
        }
        guard let first = lengths.first else { return .length(0) }
        guard !first.isEmpty, first.utf8.allSatisfy(ASCII.isDigit) else {
            throw .bad("Content-Length is no number (RFC 9110 §8.6).")
        }
        guard lengths.allSatisfy({ $0 == first }) else { throw .bad("Several Content-Lengths disagree.") }
        guard let length = Int(first) else { throw .refused(413, "Content-Length is beyond every limit.") }
        return .length(length)
    }

    // The lowercased members of a list field.
    private static func tokens(of fields: HTTPFields, _ name: HTTPField.Name) throws(Ending) -> [String] {
        guard let tokens = TokenList.parse(fields[values: name].joined(separator: ",")) else {
            throw .bad("The field \(name) isn't a list of tokens (RFC 9110 §5.6.1).")
        }
        return tokens
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(decoding: bytes.map(UInt16.init), as: UTF16.self)
    }
}

extension MockServer.Request {
    /// Parses the first line of a request (RFC 9112 §3).
    fileprivate init(line: [UInt8], _ fields: HTTPFields) throws(ServerConnection.Ending) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3 else {
            throw .bad("The request line is not a method, a target and a version, with one space between.")
        }
        guard let method = HTTPRequest.Method(rawValue: parts[0]) else { throw .bad("The method is no token.") }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .bad("The target holds bytes that a URI can't hold (RFC 9112 §3.2).")
        }
        guard let version = parts[2].wholeMatch(of: /HTTP\/([0-9])\.([0-9])/) else {
            throw .bad("The request line does not end in a version such as HTTP/1.1.")
        }
        guard version.1 == "1" else { throw .refused(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.") }
        let (path, query) = try Self.pathAndQuery(of: parts[1], method: method)
        self.init(
            method: method,
            target: parts[1],
            path: path,
            query: query,
            // A higher minor version is treated as 1.1, the highest known (RFC 9110 §2.5).
            version: version.2 == "0" ? "1.0" : "1.1",
            headers: fields
        )
    }

    private static func pathAndQuery(
        of target: String,
        method: HTTPRequest.Method
    ) throws(ServerConnection.Ending) -> (path: String, query: String?) {
        if target == "*" || method == .connect { return (target, nil) }
        var rest = target[...]
        if !rest.hasPrefix("/") {
            // The absolute form, which clients send to proxies.
            guard let authority = rest.range(of: "://") else {
                throw .bad("The target is neither a path nor an absolute URI (RFC 9112 §3.2).")
            }
            rest = rest[authority.upperBound...].drop { $0 != "/" && $0 != "?" }
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let path = parts.first ?? ""
        return (path.isEmpty ? "/" : path, parts.count == 2 ? parts[1] : nil)
    }
}
