public import Foundation
internal import InterceptorsSyntax

/// A request for a ``Transport``. A request is a value: changing one never affects another.
///
/// ```swift
/// var request = HTTPRequest(url: url)
/// request.headers[.accept] = "application/json"
/// request.context.timeouts = Timeouts(total: .seconds(10))
/// let response = try await transport.send(request)
/// ```
public struct HTTPRequest: Sendable {
    /// The request method (RFC 9110 §9).
    public var method: Method
    /// The absolute http or https URL of the target.
    public var url: URL
    /// The header fields.
    public var headers: HTTPFields
    /// The content. Empty by default.
    public var body: HTTPBody
    /// Values that accompany the request but aren't sent: timeouts, modes, identity.
    public var context: HTTPContext

    /// Creates a request. By default a GET without fields or content.
    public init(
        method: Method = .get,
        url: URL,
        headers: HTTPFields = HTTPFields(),
        body: HTTPBody = .empty,
        context: HTTPContext = HTTPContext()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.context = context
    }
}

extension HTTPRequest {
    /// A request method: any token, compared exactly (RFC 9110 §9.1).
    public struct Method: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The method as sent on the wire.
        public let rawValue: String

        /// Creates a method from untrusted text. Returns `nil` unless the text is a token (RFC 9110 §5.6.2).
        public init?(rawValue: String) {
            guard ASCII.isToken(rawValue) else { return nil }
            self.rawValue = rawValue
        }

        /// Creates a method from a literal. If the literal isn't a token, the request is refused when sent.
        public init(stringLiteral rawValue: String) { self.rawValue = rawValue }

        /// The method as sent on the wire.
        public var description: String { rawValue }
    }
}

extension HTTPRequest.Method {
    /// GET (RFC 9110 §9.3.1).
    public static var get: Self { "GET" }
    /// HEAD (RFC 9110 §9.3.2).
    public static var head: Self { "HEAD" }
    /// POST (RFC 9110 §9.3.3).
    public static var post: Self { "POST" }
    /// PUT (RFC 9110 §9.3.4).
    public static var put: Self { "PUT" }
    /// DELETE (RFC 9110 §9.3.5).
    public static var delete: Self { "DELETE" }
    /// CONNECT (RFC 9110 §9.3.6).
    public static var connect: Self { "CONNECT" }
    /// OPTIONS (RFC 9110 §9.3.7).
    public static var options: Self { "OPTIONS" }
    /// TRACE (RFC 9110 §9.3.8).
    public static var trace: Self { "TRACE" }
    /// PATCH (RFC 5789).
    public static var patch: Self { "PATCH" }
    /// QUERY, a safe method with content (RFC 10008).
    public static var query: Self { "QUERY" }

    /// Whether the method requests no change on the server (RFC 9110 §9.2.1).
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query: true
        default: false
        }
    }

    /// Whether several identical requests have the effect of a single one (RFC 9110 §9.2.2).
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}

extension HTTPRequest {
    /// Throws if this request must not be sent.
    ///
    /// Every transport calls this method before sending anything. If you write a transport, call it too.
    ///
    /// - Throws: ``TransportError`` with one of these codes:
    ///   - ``HTTPErrorCode/sendingForbidden`` if the context forbids sending;
    ///   - ``HTTPErrorCode/unsupportedURL`` if the URL isn't an absolute http or https URL with a host, or contains a
    ///     user name or a password (RFC 9110 §4.2.4);
    ///   - ``HTTPErrorCode/invalidRequest`` if the method or a field's name isn't a token, a field's value contains a
    ///     control character (RFC 9110 §5.1, §5.5), or a field frames the content differently from the body (RFC 9112 §6).
    public func validate() throws {
        if let reason = context.sendingForbidden { throw failure(.sendingForbidden, reason + " Nothing was sent.") }
        try validateForm()
    }

    /// Throws if this request is malformed, whether or not its context forbids sending.
    package func validateForm() throws {
        if url.usualOrigin == nil { try validateURL() }
        guard ASCII.isToken(method.rawValue) else {
            throw failure(.invalidRequest, "The method is not a token (RFC 9110 §9.1).")
        }
        if let reason = headers.firstInvalid?.invalidity { throw failure(.invalidRequest, reason) }
        try validateFraming()
    }

    private func validateURL() throws {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw failure(.unsupportedURL, "The URL must be an absolute http or https URL.")
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw failure(.unsupportedURL, "The URL names no host.")
        }
        guard url.user == nil, url.password == nil else {
            throw failure(
                .unsupportedURL,
                "The URL holds a user name or a password (RFC 9110 §4.2.4). Send them in an Authorization field instead."
            )
        }
        guard url.hasUsablePort else {
            throw failure(.unsupportedURL, "The port is not a number from 1 to 65535.")
        }
    }

    private func validateFraming() throws {
        if headers.contains(.transferEncoding) {
            throw failure(.invalidRequest, "Transfer-Encoding is the transport's to set: remove the field.")
        }
        guard headers.contains(.contentLength) else { return }
        let stated = headers[values: .contentLength]
        guard stated.count == 1, let length = body.length, stated.first == String(length) else {
            throw failure(.invalidRequest, "Content-Length does not agree with the body: leave it to the transport.")
        }
    }

    private func failure(_ code: HTTPErrorCode, _ message: String) -> TransportError {
        TransportError(code, message, request: self)
    }
}

extension URL {
    // `port` is `nil` both for an absent port and for a port too large for `Int`.
    fileprivate var hasUsablePort: Bool {
        if let port { return 1...65535 ~= port }
        let rest = absoluteString.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let colon = authority.lastIndex(of: UInt8(ascii: ":"))
        let hostEnd = authority.lastIndex { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "]") }
        guard let colon, hostEnd.map({ $0 < colon }) ?? true else { return true }
        return authority[colon...].count == 1
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and URL on one line, with secrets in the URL redacted.
    public var description: String { PrintableText.line("\(method) \(Redaction.standard.string(for: url))") }
}
