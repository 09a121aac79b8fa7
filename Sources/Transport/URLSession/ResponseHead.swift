internal import Foundation
internal import HTTPSyntax

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Status and fields of a response, and what they say of its content.
struct ResponseHead: Sendable {
    let status: HTTPResponse.Status
    let headerFields: HTTPFields
    /// The bytes of the content as they will be delivered, where that is known.
    let length: Int64?
    /// Whether content can follow at all (RFC 9112 §6.3).
    let hasContent: Bool

    /// Whether more bytes than ``length`` are a mistake: of coded content, nobody knows what the system makes.
    var isLengthExact: Bool { hasContent && !headerFields.contains(.contentEncoding) }

    /// Whether it redirects.
    var isRedirect: Bool { HTTPResponse.isRedirect(status, headerFields) }

    /// Reads what Foundation made of a response.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Code/invalidResponse`` for a status or a length that is none.
    init(_ response: HTTPURLResponse, to request: HTTPRequest) throws {
        guard let status = HTTPResponse.Status(code: response.statusCode) else {
            let message = "The status \(response.statusCode) is not one of HTTP."
            throw TransportError(.invalidResponse, message, request: request)
        }
        var fields = Self.fields(of: response)
        let hasContent = HTTPResponse.hasContent(status: status.code, answering: request.method)
        let announced = try Self.length(fields, request: request)
        let isDecoded = hasContent && Self.isDecoded(fields[.contentEncoding])
        if isDecoded {
            fields.remove(.contentEncoding)
            fields.remove(.contentLength)
        }
        self.status = status
        self.headerFields = fields
        self.hasContent = hasContent
        length = isDecoded ? nil : hasContent ? announced : 0
    }

    private init(_ status: HTTPResponse.Status, _ fields: HTTPFields) {
        self.status = status
        headerFields = fields
        length = 0
        hasContent = false
    }

    /// The same for content that Foundation has lost: nothing is announced that will not come.
    var withoutContent: ResponseHead {
        var fields = headerFields
        fields.remove(.contentLength)
        return ResponseHead(status, fields)
    }

    // The order in which they came is lost: a dictionary has none. By name, it is at least always the same.
    private static func fields(of response: HTTPURLResponse) -> HTTPFields {
        var received: [(name: String, value: String)] = []
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            received.append((name, value))
        }
        received.sort { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
        var fields = HTTPFields()
        for (name, value) in received {
            let name = HTTPField.Name(unchecked: name)
            for value in name == .setCookie ? SetCookie.split(value) : [value] { fields.append(name, value) }
        }
        return fields
    }

    /// RFC 9112 §6.3: repeated lengths must agree, and a transfer coding overrides them.
    private static func length(_ fields: HTTPFields, request: HTTPRequest) throws -> Int64? {
        do {
            var codings: [String] = []
            for value in fields[values: .transferEncoding] {
                codings = try ResponseFraming.codings(of: value, after: codings)
            }
            var length: Int64?
            for value in fields[values: .contentLength] {
                length = try ResponseFraming.length(of: value, after: length)
            }
            return codings.isEmpty ? length : nil
        } catch {
            throw TransportError(.invalidResponse, error.message, request: request)
        }
    }

    /// Whether Foundation hands the content over with its coding undone.
    static func isDecoded(_ codings: String?) -> Bool {
        guard let codings else { return false }
        let names = codings.split(separator: ",").map { coding in
            coding.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }.lowercased()
        }
        let coded = names.filter { $0 != "identity" }
        #if canImport(FoundationNetworking)
        // libcurl undoes every coding, or fails.
        return !coded.isEmpty
        #else
        return !coded.isEmpty && coded.allSatisfy(["gzip", "x-gzip", "deflate", "br"].contains)
        #endif
    }
}

/// Takes apart what Foundation has joined with commas, though that field is the one that can't be (RFC 9110 §5.3).
enum SetCookie {
    /// The single cookies: a comma divides two where a name and `=` follow, as they don't in the date of `Expires`.
    static func split(_ joined: String) -> [String] {
        // By bytes: to a search by characters, an equals sign followed by a combining accent is none.
        let bytes = joined.utf8
        var cookies: [String] = []
        var start = bytes.startIndex
        var position = start
        while let comma = bytes[position...].firstIndex(of: UInt8(ascii: ",")) {
            position = bytes.index(after: comma)
            let rest = bytes[position...].drop { $0 == 0x20 || $0 == 0x09 }
            let name = rest.prefix { ![UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) }
            guard ASCII.isToken(String(Substring(name))), rest[name.endIndex...].first == UInt8(ascii: "=") else {
                continue
            }
            cookies.append(String(joined[start..<comma]))
            start = rest.startIndex
        }
        cookies.append(String(joined[start...]))
        return cookies
    }
}
