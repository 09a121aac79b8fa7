public import Foundation
internal import InterceptorsSyntax

/// A cookie as the jar stores it (RFC 6265 §5.3). Its descriptions and its mirror don't show the value.
public struct Cookie: Sendable, Hashable, Codable {
    /// The name, as the server sent it.
    public var name: String
    /// The value, as the server sent it.
    public var value: String
    /// The host, or the domain that covers several hosts, in lower case and without a leading dot.
    public var domain: String
    /// Whether only the host itself gets the cookie; if `false`, the hosts below the domain get it too.
    public var isHostOnly: Bool
    /// The path that the cookie is for, together with all paths below it.
    public var path: String
    /// The expiry; `nil` for a cookie that lives as long as the jar.
    public var expires: Date?
    /// Whether the cookie is sent over https only.
    public var isSecure: Bool
    /// Whether the server hides the cookie from scripts. This package stores the attribute and doesn't act on it.
    public var isHTTPOnly: Bool
    /// The `SameSite` attribute: `strict`, `lax` or `none` (draft-ietf-httpbis-rfc6265bis §5.6.7); `nil` if the cookie was set or
    /// made with another word, or without the attribute. Kept for web views; requests don't depend on it.
    public internal(set) var sameSite: String?
    /// Whether the server sent the `Partitioned` attribute. Kept for web views; requests don't depend on it.
    public var isPartitioned: Bool

    /// Creates a cookie by hand. A jar refuses the cookie unless it ``isValid``.
    ///
    /// An international domain is stored in its ASCII form, and an IPv6 address in brackets, as in the host of a request.
    public init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = true,
        isHTTPOnly: Bool = true,
        sameSite: String? = nil,
        isPartitioned: Bool = false
    ) {
        self.name = name
        self.value = value
        self.domain = CookieHost.name(Self.canonical(domain))
        self.isHostOnly = isHostOnly
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = Self.policy(sameSite)
        self.isPartitioned = isPartitioned
    }

    /// Whether a server reads the name and the value from a `Cookie` field unchanged.
    ///
    /// Neither may contain a semicolon, a control character other than tab, or white space at its start or end. The name
    /// isn't empty and contains no `=`. Both together are at most 4,096 bytes.
    public var isValid: Bool {
        guard let read = SetCookie("\(name)=\(value)") else { return false }
        return ASCII.isSame(read.cookie.name, name) && ASCII.isSame(read.cookie.value, value)
    }

    #if canImport(Darwin)
    /// Converts a cookie of Foundation, such as a web view's. On Apple's platforms only.
    public init(_ cookie: HTTPCookie) {
        self.init(
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            // Foundation marks a domain cookie with a leading dot.
            isHostOnly: !cookie.domain.hasPrefix("."),
            path: cookie.path,
            expires: cookie.expiresDate,
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly
        )
        sameSite = Self.policy(cookie.sameSitePolicy?.rawValue)
    }

    /// The cookie as a cookie of Foundation, such as for a web view; `nil` if Foundation refuses it. On Apple's platforms only.
    ///
    /// Foundation has no counterpart of ``isPartitioned``.
    public var httpCookie: HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: isHostOnly ? domain : ".\(domain)", .path: path,
        ]
        if let expires { properties[.expires] = expires }
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        // Foundation has no value for `none`, and treats a cookie without a policy as if it had `none`.
        if let sameSite, sameSite != "none" { properties[.sameSitePolicy] = sameSite }
        return HTTPCookie(properties: properties)
    }
    #endif

    /// A word of `SameSite` in lower case; `nil` for an unknown word.
    static func policy(_ word: String?) -> String? {
        let word = word?.lowercased()
        return ["strict", "lax", "none"].first { $0 == word }
    }

    static func canonical(_ domain: String) -> String {
        let lowercased = domain.lowercased()
        return lowercased.hasPrefix(".") ? String(lowercased.dropFirst()) : lowercased
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, domain, path and expiry, without the value.
    public var description: String {
        var text = "\(PrintableText.line(name))=\(Redaction.standard.placeholder); \(isHostOnly ? "host" : "domain") "
        text += "\(PrintableText.line(domain + path))"
        if isSecure { text += "; secure" }
        return text + (expires.map { "; until \($0)" } ?? "")
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror without the value.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}
