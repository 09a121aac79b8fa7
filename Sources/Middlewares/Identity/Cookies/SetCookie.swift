internal import Foundation
internal import InterceptorsSyntax

/// A parsed `Set-Cookie` field (RFC 6265 §5.2), before the jar checks whether its host may set the cookie.
struct SetCookie: Sendable, Hashable {
    /// The cookie, whose domain and path aren't known yet.
    var cookie: Cookie
    var maxAge: Double?
    /// In lower case, without a leading dot; `nil` for the responding host.
    var domain: String?
    /// `nil` for the default path of the request's URL.
    var path: String?

    // RFC 6265 §6.1 requires at least 4,096 bytes. A longer cookie would burden every request.
    private static let limit = 4096
    private static let attributeLimit = 1024

    /// Returns `nil` if the field holds no cookie.
    init?(_ field: String) {
        // A value with control characters could not be sent back in a `Cookie` field.
        guard !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = Self.pair(parts[0])
        guard let value = pair.value else { return nil }
        guard !pair.name.isEmpty, pair.name.utf8.count + value.utf8.count <= Self.limit else { return nil }
        cookie = Cookie(name: pair.name, value: value, domain: "", isSecure: false, isHTTPOnly: false)
        for part in parts.dropFirst() { apply(part) }
    }

    // If an attribute repeats, the last usable value wins.
    private mutating func apply(_ attribute: Substring.UTF8View) {
        let pair = Self.pair(attribute)
        let value = pair.value ?? ""
        guard value.utf8.count <= Self.attributeLimit else { return }
        switch pair.name.lowercased() {
        case "max-age": if let seconds = Self.seconds(value) { maxAge = seconds }
        case "expires": if let date = CookieDate.parse(value) { cookie.expires = date }
        case "domain": domain = value.isEmpty ? nil : Cookie.canonical(value)
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": cookie.isSecure = true
        case "httponly": cookie.isHTTPOnly = true
        case "samesite": cookie.sameSite = Cookie.policy(value)
        case "partitioned": cookie.isPartitioned = true
        default: break
        }
    }

    private static func seconds(_ text: String) -> Double? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Double(text)
    }

    // Splits bytes, because a search by characters misses a semicolon that a combining accent follows.
    private static func pair(_ bytes: Substring.UTF8View) -> (name: String, value: String?) {
        let parts = bytes.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        return (trimmed(parts[0]), parts.count == 2 ? trimmed(parts[1]) : nil)
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let start = bytes.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(Substring(start[...last]))
    }
}
