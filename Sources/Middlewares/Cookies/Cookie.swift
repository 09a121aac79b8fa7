public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A cookie as it is kept (RFC 6265 §5.3). Its descriptions and its mirror don't show the value.
public struct Cookie: Sendable, Hashable, Codable {
    /// The name.
    public var name: String
    /// The value, as the server gave it.
    public var value: String
    /// The host, or the domain whose hosts get it, in lower case and without a leading dot.
    public var domain: String
    /// Whether it goes to the host alone, not to those below it.
    public var isHostOnly: Bool
    /// The path that it is for, and all below it.
    public var path: String
    /// When it ends; `nil` for the life of the jar.
    public var expires: Date?
    /// Whether it is only sent over https.
    public var isSecure: Bool
    /// Whether the server wants it kept from scripts. It changes nothing here.
    public var isHTTPOnly: Bool

    /// A cookie, made by the program itself.
    public init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = true,
        isHTTPOnly: Bool = true
    ) {
        self.name = name
        self.value = value
        self.domain = Self.canonical(domain)
        self.isHostOnly = isHostOnly
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
    }

    /// A cookie of Foundation, for instance one that a web view was given.
    public init(_ cookie: HTTPCookie) {
        self.init(
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            // Foundation tells the two apart by a leading dot.
            isHostOnly: !cookie.domain.hasPrefix("."),
            path: cookie.path,
            expires: cookie.expiresDate,
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly
        )
    }

    /// The same as a cookie of Foundation, for instance to give it to a web view; `nil` if Foundation refuses it.
    public var httpCookie: HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: isHostOnly ? domain : ".\(domain)", .path: path,
        ]
        if let expires { properties[.expires] = expires }
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        return HTTPCookie(properties: properties)
    }

    static func canonical(_ domain: String) -> String {
        let lowercased = domain.lowercased()
        return lowercased.hasPrefix(".") ? String(lowercased.dropFirst()) : lowercased
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, whom it is for and until when, without the value.
    public var description: String {
        var text = "\(PrintableText.line(name))=\(Redaction.standard.placeholder); \(isHostOnly ? "host" : "domain") "
        text += "\(PrintableText.line(domain + path))"
        if isSecure { text += "; secure" }
        return text + (expires.map { "; until \($0)" } ?? "")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without the value.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}
