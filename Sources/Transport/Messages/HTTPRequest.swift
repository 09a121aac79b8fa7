public import Foundation

/// A request on its way to a ``Transport``: a value, so that a change made to one never shows in another.
///
/// ```swift
/// var request = HTTPRequest(url: url)
/// request.headerFields[.accept] = "application/json"
/// request.context.timeouts = Timeouts(whole: .seconds(10))
/// let response = try await transport.send(request)
/// ```
public struct HTTPRequest: Sendable {
    /// What is asked for (RFC 9110 §9).
    public var method: Method
    /// The absolute http or https URL of the target.
    public var url: URL
    /// The header fields.
    public var headerFields: HTTPFields
    /// The content, empty by default.
    public var body: HTTPBody
    /// What travels with the request but not over the wire: timeouts, modes, identity.
    public var context: HTTPContext

    /// A request; by default a GET without fields and content.
    public init(
        method: Method = .get,
        url: URL,
        headerFields: HTTPFields = HTTPFields(),
        body: HTTPBody = .empty,
        context: HTTPContext = HTTPContext()
    ) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
        self.context = context
    }
}

extension HTTPRequest {
    /// A request method: any token, compared exactly (RFC 9110 §9.1).
    public struct Method: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The method as it goes over the wire.
        public let rawValue: String

        /// A method from untrusted text, or `nil` unless it is a token (RFC 9110 §5.6.2).
        public init?(rawValue: String) {
            guard ASCII.isToken(rawValue) else { return nil }
            self.rawValue = rawValue
        }

        /// A method written in code. One that is no token is refused when a request with it is sent.
        public init(stringLiteral rawValue: String) { self.rawValue = rawValue }

        /// The method as it goes over the wire.
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
    /// QUERY, a safe method with content (draft-ietf-httpbis-safe-method-w-body).
    public static var query: Self { "QUERY" }

    /// Whether the method asks for no change on the server (RFC 9110 §9.2.1).
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query: true
        default: false
        }
    }

    /// Whether asking several times has the effect of asking once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}

extension HTTPRequest {
    /// Throws what makes this request unfit to be sent.
    ///
    /// Every transport calls it before it sends anything, and so does one that you write.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Code/sendingForbidden`` if nothing may be sent for it, with
    ///   ``TransportError/Code/unsupportedURL`` if the URL is not an absolute http or https URL with a host, or holds a user
    ///   name or a password (RFC 9110 §4.2.4), and with ``TransportError/Code/invalidRequest`` if the method is no token, a
    ///   header field holds a control character or a name that is no token (RFC 9110 §5.5, §5.1), or a field of its own
    ///   frames the content in another way than the body does (RFC 9112 §6).
    public func validate() throws {
        if let reason = context.sendingForbidden { throw failure(.sendingForbidden, reason + " Nothing was sent.") }
        try validateForm()
    }

    /// Throws what makes this request unfit to be sent whenever it may be sent.
    package func validateForm() throws {
        if PlainTarget(url) == nil { try validateURL() }
        guard ASCII.isToken(method.rawValue) else {
            throw failure(.invalidRequest, "The method is not a token (RFC 9110 §9.1).")
        }
        if let field = headerFields.firstInvalid {
            let reason =
                field.name.isValid
                ? "The value of the field \(field.name) holds a control character such as CR, LF or NUL."
                : "\(String(reflecting: field.name.rawName)) is not a field name."
            throw failure(.invalidRequest, reason)
        }
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
        if headerFields.contains(.transferEncoding) {
            throw failure(.invalidRequest, "Transfer-Encoding is the transport's to set: remove the field.")
        }
        guard headerFields.contains(.contentLength) else { return }
        let stated = headerFields[values: .contentLength]
        guard stated.count == 1, let length = body.length, stated.first == String(length) else {
            throw failure(.invalidRequest, "Content-Length does not agree with the body: leave it to the transport.")
        }
    }

    private func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
        TransportError(code, message, request: self)
    }
}

extension URL {
    // `port` is nil for one that is left out and for one that no Int can hold.
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

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// Method and URL on one line, with what is secret in the URL redacted.
    public var description: String { PrintableText.line("\(method) \(Redaction.standard.string(for: url))") }

    /// The same as ``description``: a secret is not printed by accident.
    public var debugDescription: String { description }
}
