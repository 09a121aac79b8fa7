internal import Foundation
internal import InterceptorsSyntax

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The status and fields of a response, and the length of its content.
struct ResponseHead: Sendable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    /// The number of content bytes that will be delivered; `nil` if unknown.
    let length: Int64?
    /// Whether the response can have content (RFC 9112 §6.3).
    let hasContent: Bool

    /// Whether more bytes than ``length`` are an error. For coded content, the decoded length is unknown.
    var isLengthExact: Bool { hasContent && !headers.contains(.contentEncoding) }

    /// Whether the response is a redirect.
    var isRedirect: Bool { HTTPResponse.isRedirect(status, headers) }

    /// Reads the head from Foundation's response.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.invalidResponse` for an invalid status or length.
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
        self.headers = fields
        self.hasContent = hasContent
        length = isDecoded ? nil : hasContent ? announced : 0
    }

    private init(_ status: HTTPResponse.Status, _ fields: HTTPFields) {
        self.status = status
        headers = fields
        length = 0
        hasContent = false
    }

    /// The head for a response whose content Foundation has lost: it announces no content.
    var withoutContent: ResponseHead {
        var fields = headers
        fields.remove(.contentLength)
        return ResponseHead(status, fields)
    }

    // Foundation's dictionary has no order, so the fields are sorted by name, which is at least deterministic.
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
            for value in split(value, of: name) { fields.append(name, value) }
        }
        return fields
    }

    /// The values of a field that Foundation may have joined, where one value can't contain the separator.
    private static func split(_ value: String, of name: HTTPField.Name) -> [String] {
        switch name {
        case .setCookie: SetCookie.split(value)
        case .location: locations(value)
        default: [value]
        }
    }

    /// The single values of `Location` fields joined with commas. A URL contains no blank, so a comma, a blank and the beginning of
    /// a URL separate two values.
    static func locations(_ joined: String) -> [String] {
        var (values, rest) = ([] as [String], Substring(joined))
        var position = rest.startIndex
        while let separator = rest[position...].firstRange(of: ", ") {
            let next = rest[separator.upperBound...].drop { $0 == " " }
            position = next.startIndex
            let start = next.prefix(8).lowercased()
            guard start.hasPrefix("http://") || start.hasPrefix("https://") || start.hasPrefix("/") else { continue }
            values.append(String(rest[..<separator.lowerBound]))
            rest = next
        }
        return values + [String(rest)]
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

    /// Whether Foundation delivers the content decoded.
    static func isDecoded(_ codings: String?) -> Bool {
        guard let codings else { return false }
        let names = codings.split(separator: ",").map { coding in
            coding.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }.lowercased()
        }
        let coded = names.filter { $0 != "identity" }
        #if canImport(FoundationNetworking)
        // libcurl decodes every coding, or fails.
        return !coded.isEmpty
        #else
        return !coded.isEmpty && coded.allSatisfy(["gzip", "x-gzip", "deflate", "br"].contains)
        #endif
    }
}

/// Splits the `Set-Cookie` fields that Foundation has joined with commas, although this field must not be joined (RFC 9110
/// §5.3).
enum SetCookie {
    /// The single cookies. A comma separates two cookies if a name and `=` follow it, which never happens in an `Expires`
    /// date.
    static func split(_ joined: String) -> [String] {
        // Searches bytes, because a search by characters misses an equals sign that a combining accent follows.
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
