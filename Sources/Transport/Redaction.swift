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
    // Over bytes, since a log asks for it twice for each request.
    func redactingQueries(in text: String) -> String {
        var text = text
        let redacted: String? = text.withUTF8 { bytes in
            // Most URLs hold nothing of the kind.
            guard bytes.contains(where: { $0 == 0x23 || $0 == 0x3F || $0 == 0x40 }) else { return nil }
            var output: [UInt8] = []
            output.reserveCapacity(bytes.count + 2 * placeholder.utf8.count)
            let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
            let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?"))
            appendWithoutUser(bytes[..<(mark ?? end)], to: &output)
            if let mark {
                output.append(bytes[mark])
                append(pairs: bytes[(mark + 1)..<end], to: &output)
            }
            return String(decoding: output, as: UTF8.self)
        }
        return redacted ?? text
    }

    /// `name=value` pairs joined by `&` or `;`, as in a query or a form, with the values of sensitive names replaced.
    func pairs(in text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            var output: [UInt8] = []
            output.reserveCapacity(bytes.count + placeholder.utf8.count)
            append(pairs: bytes[...], to: &output)
            return String(decoding: output, as: UTF8.self)
        }
    }

    private func append(pairs bytes: Slice<UnsafeBufferPointer<UInt8>>, to output: inout [UInt8]) {
        var rest = bytes
        while true {
            let end = rest.firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") } ?? rest.endIndex
            append(pair: rest[..<end], to: &output)
            guard end < rest.endIndex else { return }
            output.append(rest[end])
            rest = rest[(end + 1)...]
        }
    }

    private func append(pair: Slice<UnsafeBufferPointer<UInt8>>, to output: inout [UInt8]) {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return output += pair }
        output += pair[...equals]
        let value = pair[(equals + 1)...]
        if isSensitive(encoded: UnsafeBufferPointer(rebasing: pair[..<equals])) {
            output += placeholder.utf8
        } else if let redacted = redactingText(value) {
            output += redacted
        } else {
            output += value
        }
    }

    private func isSensitive(encoded name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.contains(UInt8(ascii: "%")) else { return names.contains(name) }
        let text = String(decoding: name, as: UTF8.self)
        return isSensitive(text.removingPercentEncoding ?? text)
    }

    private func appendWithoutUser(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, to output: inout [UInt8]) {
        // The authority stands after `//`, also in a reference without a scheme (RFC 3986 §4.2).
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), bytes[slash...].starts(with: "//".utf8) else {
            return output += bytes
        }
        let authority = bytes[(slash + 2)...].prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return output += bytes }
        output += bytes[..<authority.startIndex]
        output += placeholder.utf8
        output += bytes[at...]
    }
}
