public import Foundation

/// What is secret in a message, and how it is printed: errors, descriptions and logs go through it.
///
/// Names are compared in lower case without `-`, `_` and `.`, so that `api_key`, `apiKey` and `X-Api-Key` are one.
public struct Redaction: Sendable {
    /// What stands in the place of a secret.
    public let placeholder: String

    private let names: SensitiveNames

    /// A redaction of these names.
    ///
    /// - Parameters:
    ///   - sensitiveParts: parts of a name that make its value a secret.
    ///   - sensitiveNames: whole names whose values are secret.
    ///   - placeholder: what stands in the place of a secret.
    public init(sensitiveParts: [String], sensitiveNames: [String], placeholder: String = "<redacted>") {
        self.placeholder = placeholder
        names = SensitiveNames(parts: sensitiveParts, wholes: sensitiveNames)
    }

    private init(placeholder: String, names: SensitiveNames) {
        self.placeholder = placeholder
        self.names = names
    }

    /// Credentials, tokens, cookies, signatures and keys, by their usual names.
    public static let standard = Redaction(
        sensitiveParts: [
            "password", "passwd", "passphrase", "passcode", "secret", "token", "authorization", "credential",
            "signature",
            "cookie", "sessionid", "jwt", "assertion", "csrf", "xsrf", "saml", "cardnumber", "apikey", "accesskey",
            "accountkey", "applicationkey", "authkey", "encryptionkey", "functionskey", "masterkey", "privatekey",
            "sharedkey", "signingkey", "subscriptionkey",
        ],
        sensitiveNames: [
            "auth", "code", "codeverifier", "cvc", "cvv", "key", "otp", "pass", "pin", "pwd", "session", "sid",
            "sig", "ssn",
        ]
    )

    /// The same with more names.
    public func adding(names more: [String]) -> Redaction {
        Redaction(placeholder: placeholder, names: names.adding(wholes: more))
    }

    /// Whether the value under this name is a secret: in a header field, a query, a form or a JSON object.
    ///
    /// Of a name such as `user[pin]` each part is looked at too.
    public func isSensitive(_ name: some StringProtocol) -> Bool {
        if let isSensitive = name.utf8.withContiguousStorageIfAvailable({ names.contains($0) }) { return isSensitive }
        return Array(name.utf8).withUnsafeBufferPointer { names.contains($0) }
    }

    /// A field's value as it may be printed: the placeholder for a sensitive name; a URL, as in `Location`, with its query
    /// redacted; anything else without the secrets that ``text(_:)`` finds.
    public func value(of field: HTTPField) -> String {
        switch field.name {
        case .location, .contentLocation, .referer: redactingQueries(in: field.value)
        default: isSensitive(field.name.rawName) ? placeholder : text(field.value)
        }
    }

    /// A URL as it may be printed: without user, password and fragment, and with the values of sensitive query names
    /// replaced.
    public func string(for url: URL) -> String { redactingQueries(in: url.absoluteString) }
}

extension Redaction {
    func redactingQueries(in text: String) -> String {
        // Most URLs hold nothing of the kind.
        guard text.utf8.contains(where: { $0 == 0x23 || $0 == 0x3F || $0 == 0x40 }) else { return text }
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?"))
        let head = withoutUser(text[..<(mark ?? end)])
        guard let mark else { return head }
        return head + "?" + pairs(in: text[bytes.index(after: mark)..<end])
    }

    /// `name=value` pairs joined by `&` or `;`, as in a query or a form, with the values of sensitive names replaced.
    func pairs(in text: Substring) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count + placeholder.utf8.count)
        var rest = text.utf8[...]
        while true {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: ";") }
            append(pair, to: &result)
            guard pair.endIndex < rest.endIndex else { return result }
            result.unicodeScalars.append(Unicode.Scalar(rest[pair.endIndex]))
            rest = rest[pair.endIndex...].dropFirst()
        }
    }

    private func append(_ pair: Substring.UTF8View, to result: inout String) {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return result += Substring(pair) }
        let name = Substring(pair[..<equals])
        let isEncoded = name.utf8.contains(UInt8(ascii: "%"))
        result += Substring(pair[...equals])
        if isSensitive(isEncoded ? name.removingPercentEncoding ?? String(name) : String(name)) {
            result += placeholder
        } else {
            result += self.text(String(Substring(pair[equals...].dropFirst())))
        }
    }

    private func withoutUser(_ text: Substring) -> String {
        // The authority stands after `//`, also in a reference without a scheme (RFC 3986 §4.2).
        let bytes = text.utf8
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), bytes[slash...].starts(with: "//".utf8) else {
            return String(text)
        }
        let authority = bytes[bytes.index(slash, offsetBy: 2)...].prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return String(text) }
        return text[..<authority.startIndex] + placeholder + text[at...]
    }
}

/// Names and parts of names, prepared so that a name is looked up without allocating: it is done for every field of
/// every logged message.
private struct SensitiveNames: Sendable {
    private let parts: [[UInt8]]
    private let wholes: [[UInt8]]
    // A bit for each letter that a part begins with.
    private let initials: UInt32

    init(parts: [String], wholes: [String]) {
        self.init(parts: parts.map(Self.folded), wholes: wholes.map(Self.folded))
    }

    private init(parts: [[UInt8]], wholes: [[UInt8]]) {
        self.parts = parts
        self.wholes = wholes
        initials = parts.reduce(0) { bits, part in part.first.map { bits | Self.bit($0) } ?? bits }
    }

    func adding(wholes more: [String]) -> Self {
        Self(parts: parts, wholes: wholes + more.map(Self.folded))
    }

    func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: name.count) { folded in
            var count = 0
            for byte in name where !Self.isSeparator(byte) {
                folded[count] = ASCII.lowercased(byte)
                count += 1
            }
            let whole = folded[..<count]
            if contains(folded: whole) { return true }
            guard whole.contains(UInt8(ascii: "[")) else { return false }
            return whole.split { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }.contains { contains(folded: $0) }
        }
    }

    private func contains(folded name: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Bool {
        if wholes.contains(where: { $0.count == name.count && $0.elementsEqual(name) }) { return true }
        for start in name.indices where initials & Self.bit(name[start]) != 0 {
            if parts.contains(where: { name[start...].starts(with: $0) }) { return true }
        }
        return false
    }

    private static func folded(_ name: String) -> [UInt8] {
        name.utf8.filter { !isSeparator($0) }.map { ASCII.lowercased($0) }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }

    // Bytes that are no letters share the bits that are left: a bit only says that a look is needed.
    private static func bit(_ byte: UInt8) -> UInt32 { 1 << UInt32(byte & 31) }
}
