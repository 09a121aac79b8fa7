internal import Foundation

/// What a `Set-Cookie` field says (RFC 6265 §5.2), before it is held against the host that says it.
struct SetCookie: Sendable, Hashable {
    var name: String
    var value: String
    var maxAge: Double?
    var expires: Date?
    /// In lower case, without a leading dot; `nil` for the host that says it.
    var domain: String?
    /// `nil` for the default of the request's path.
    var path: String?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: Cookie.SameSite?
    var isPartitioned = false

    // RFC 6265 §6.1 asks for at least so much; what is longer would be sent with each request.
    private static let limit = 4096
    private static let attributeLimit = 1024

    /// The cookie, or `nil` if the field holds none.
    init?(_ field: String) {
        // Controls are what separates fields elsewhere: such a cookie could not be sent back.
        guard !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = Self.pair(parts[0])
        guard let value = pair.value else { return nil }
        name = pair.name
        self.value = value
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.limit else { return nil }
        for part in parts.dropFirst() { apply(part) }
    }

    // The last of several attributes of one name counts; one with an unusable value doesn't.
    private mutating func apply(_ attribute: Substring.UTF8View) {
        let pair = Self.pair(attribute)
        let value = pair.value ?? ""
        guard value.utf8.count <= Self.attributeLimit else { return }
        switch pair.name.lowercased() {
        case "max-age": if let seconds = Self.seconds(value) { maxAge = seconds }
        case "expires": if let date = CookieDate.parse(value) { expires = date }
        case "domain": domain = value.isEmpty ? nil : Cookie.canonical(value)
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Cookie.SameSite(value)
        case "partitioned": isPartitioned = true
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

    // Over bytes: to a search by characters, a semicolon followed by a combining accent is none.
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
