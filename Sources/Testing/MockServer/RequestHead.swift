internal import Foundation
internal import InterceptorsCore

/// The status and text that answer an unacceptable request. The connection is closed afterwards.
struct BadRequest: Error, Equatable {
    let status: HTTPResponse.Status
    let reason: String

    init(_ status: HTTPResponse.Status, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    init(_ reason: String) { self.init(400, reason) }
}

/// Collects a line as its bytes arrive.
struct LineReader {
    private let limit: Int
    private let tooLong: BadRequest
    // The current line so far, including a CR.
    private var line: [UInt8] = []

    /// - Parameters:
    ///   - limit: the most bytes of a line.
    ///   - tooLong: thrown for a longer line.
    init(limit: Int, tooLong: BadRequest) { (self.limit, self.tooLong) = (limit, tooLong) }

    /// Takes the bytes of the current line, and returns the line without its CR LF once complete; until then `nil`.
    mutating func next(from rest: inout ArraySlice<UInt8>) throws(BadRequest) -> [UInt8]? {
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\n") {
                // Refused at once: a client with such line endings would otherwise wait forever.
                guard line.popLast() == UInt8(ascii: "\r") else {
                    throw BadRequest("A line ends in LF without CR; a line must end in CR LF (RFC 9112 §2.2).")
                }
                defer { line = [] }
                return line
            }
            line.append(byte)
            guard line.count <= limit else { throw tooLong }
        }
        return nil
    }
}

/// The head of a request, parsed strictly (RFC 9112), so that tests catch mistakes that lenient servers forgive.
struct RequestHead {
    /// The framing of the content (RFC 9112 §6).
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    let request: MockServer.Request
    let framing: Framing
    let keepsAlive: Bool
    let expectsContinue: Bool

    /// Parses a head.
    ///
    /// - Parameter lines: the request line and the field lines, without their CR LF.
    init(_ lines: [[UInt8]]) throws(BadRequest) {
        let line = try RequestLine(lines.first ?? [])
        let fields = try Self.fields(of: lines.dropFirst())
        request = MockServer.Request(
            method: line.method,
            target: line.target,
            path: line.path,
            query: line.query,
            version: line.version,
            headerFields: fields
        )
        let isLatest = line.version == "1.1"
        let hosts = fields[values: .host].count
        guard hosts == 1 || (hosts == 0 && !isLatest) else {
            throw BadRequest("HTTP/1.1 wants one Host field; there are \(hosts) (RFC 9112 §3.2).")
        }
        framing = try Self.framing(of: fields, isLatest: isLatest)
        let connection = Self.elements(of: fields, .connection)
        keepsAlive = isLatest ? !connection.contains("close") : connection.contains("keep-alive")
        let expectations = Self.elements(of: fields, .expect)
        guard expectations.allSatisfy({ $0 == "100-continue" }) else {
            throw BadRequest(417, "The only known expectation is 100-continue (RFC 9110 §10.1.1).")
        }
        expectsContinue = isLatest && !expectations.isEmpty
    }

    /// A stand-in for a request that couldn't be parsed, needed to build its response.
    static var unreadable: MockServer.Request {
        MockServer.Request(method: "", target: "", path: "", query: nil, version: "1.1", headerFields: [:])
    }

    /// The fields of a head or a trailer section.
    static func fields(of lines: some Collection<[UInt8]>) throws(BadRequest) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                throw BadRequest("A field line has no colon, or is a folded one (RFC 9112 §5).")
            }
            guard let name = HTTPField.Name(text(line[..<colon])) else {
                throw BadRequest("A field name is no token, or a space stands before its colon (RFC 9112 §5.1).")
            }
            guard let field = HTTPField(name: name, value: text(line[(colon + 1)...])) else {
                throw BadRequest("The value of the field \(name) holds a control character (RFC 9110 §5.5).")
            }
            fields.append(field)
        }
        return fields
    }

    private static func framing(of fields: HTTPFields, isLatest: Bool) throws(BadRequest) -> Framing {
        let lengths = fields[values: .contentLength].flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        .map { $0.trimmingCharacters(in: .whitespaces) }
        let codings = elements(of: fields, .transferEncoding)
        if fields.contains(.transferEncoding) {
            guard lengths.isEmpty else {
                throw BadRequest("Both Transfer-Encoding and Content-Length frame the content (RFC 9112 §6.3).")
            }
            guard isLatest else { throw BadRequest("HTTP/1.0 knows no Transfer-Encoding (RFC 9112 §6.1).") }
            guard codings.last == "chunked" else {
                throw BadRequest("The last transfer coding of a request must be chunked (RFC 9112 §6.3).")
            }
            guard codings.count == 1 else { throw BadRequest(501, "The only known transfer coding is chunked.") }
            return .chunked
        }
        guard let first = lengths.first else { return .length(0) }
        guard !first.isEmpty, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw BadRequest("Content-Length is no number (RFC 9110 §8.6).")
        }
        guard lengths.allSatisfy({ $0 == first }) else { throw BadRequest("Several Content-Lengths disagree.") }
        guard let length = Int(first) else { throw BadRequest(413, "Content-Length is beyond every limit.") }
        return .length(length)
    }

    // The lowercased members of a list field.
    private static func elements(of fields: HTTPFields, _ name: HTTPField.Name) -> [String] {
        fields[values: name].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(decoding: bytes.map(UInt16.init), as: UTF16.self)
    }
}

/// The first line of a request (RFC 9112 §3).
struct RequestLine {
    let method: HTTPRequest.Method
    let target: String
    let path: String
    let query: String?
    let version: String

    init(_ line: [UInt8]) throws(BadRequest) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3 else {
            throw BadRequest("The request line is not a method, a target and a version, with one space between.")
        }
        guard let method = HTTPRequest.Method(rawValue: parts[0]) else { throw BadRequest("The method is no token.") }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw BadRequest("The target holds bytes that a URI can't hold (RFC 9112 §3.2).")
        }
        guard parts[2].utf8.count == 8, parts[2].hasPrefix("HTTP/"), let version = Self.version(parts[2].dropFirst(5))
        else { throw BadRequest("The request line does not end in a version such as HTTP/1.1.") }
        guard version.hasPrefix("1.") else { throw BadRequest(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.") }
        self.method = method
        self.target = parts[1]
        // A higher minor version is treated as 1.1, the highest known (RFC 9110 §2.5).
        self.version = version == "1.0" ? version : "1.1"
        (path, query) = try Self.pathAndQuery(of: parts[1], method: method)
    }

    private static func version(_ text: Substring) -> String? {
        let bytes = Array(text.utf8)
        let isVersion =
            bytes.count == 3 && bytes[1] == UInt8(ascii: ".")
            && [bytes[0], bytes[2]].allSatisfy {
                (0x30...0x39).contains($0)
            }
        return isVersion ? String(text) : nil
    }

    private static func pathAndQuery(
        of target: String,
        method: HTTPRequest.Method
    ) throws(BadRequest) -> (path: String, query: String?) {
        if target == "*" || method == .connect { return (target, nil) }
        var rest = target[...]
        if !rest.hasPrefix("/") {
            // The absolute form, which clients send to proxies.
            guard let authority = rest.range(of: "://") else {
                throw BadRequest("The target is neither a path nor an absolute URI (RFC 9112 §3.2).")
            }
            rest = rest[authority.upperBound...].drop { $0 != "/" && $0 != "?" }
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let path = parts.first ?? ""
        return (path.isEmpty ? "/" : path, parts.count == 2 ? parts[1] : nil)
    }
}
