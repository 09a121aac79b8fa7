public import Foundation

/// What is secret in a message, and how it is printed: errors, descriptions and logs go through it.
///
/// Names are compared in lower case without `-` and `_`, so that `api_key`, `apiKey` and `X-Api-Key` are one.
public struct Redaction: Sendable {
    /// Parts of a name that make its value a secret, in lower case without `-` and `_`.
    public var sensitiveParts: [String]
    /// Whole names whose values are secret, in lower case without `-` and `_`.
    public var sensitiveNames: Set<String>
    /// What stands in the place of a secret.
    public var placeholder: String

    /// A redaction of these names.
    public init(sensitiveParts: [String], sensitiveNames: Set<String>, placeholder: String = "<redacted>") {
        self.sensitiveParts = sensitiveParts
        self.sensitiveNames = sensitiveNames
        self.placeholder = placeholder
    }

    /// Credentials, tokens, cookies, signatures and keys, by their usual names.
    public static let standard = Redaction(
        sensitiveParts: [
            "password", "passwd", "passphrase", "passcode", "secret", "token", "authorization", "apikey", "accesskey",
            "privatekey", "credential", "signature", "cookie", "sessionid", "jwt", "assertion",
        ],
        sensitiveNames: [
            "auth", "code", "codeverifier", "csrf", "cvc", "cvv", "key", "otp", "pass", "pin", "pwd", "session", "sid",
            "sig", "ssn",
        ]
    )

    /// The standard one with more names.
    public func adding(names: [String]) -> Redaction {
        var redaction = self
        redaction.sensitiveNames.formUnion(names.map(Self.folded))
        return redaction
    }

    /// Whether the value under this name is a secret: in a header field, a query or a JSON object.
    public func isSensitive(_ name: some StringProtocol) -> Bool {
        let folded = Self.folded(name)
        return sensitiveNames.contains(folded) || sensitiveParts.contains { folded.contains($0) }
    }

    /// A field's value as it may be printed. Where it is a URL, as in `Location`, its query is redacted.
    public func value(of field: HTTPField) -> String {
        if field.name == .location || field.name == .contentLocation || field.name == .referer || field.name == .link {
            return redactingQueries(in: field.value)
        }
        return isSensitive(field.name.rawName) ? placeholder : field.value
    }

    /// A URL as it may be printed: without user, password and fragment, and with the values of sensitive query names
    /// replaced.
    public func string(for url: URL) -> String { redactingQueries(in: url.absoluteString) }

    static func folded(_ name: some StringProtocol) -> String {
        var folded = ""
        folded.reserveCapacity(name.utf8.count)
        for scalar in name.unicodeScalars where scalar != "-" && scalar != "_" && scalar != "." {
            folded.unicodeScalars.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
        }
        return folded
    }
}

extension Redaction {
    func redactingQueries(in text: String) -> String {
        var rest = text[...]
        var result = ""
        if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
        let query = rest.firstIndex(of: "?").map { rest[rest.index(after: $0)...] }
        if let query { rest = rest[..<rest.index(before: query.startIndex)] }
        result += withoutUser(rest)
        if let query { result += "?" + pairs(in: query) }
        return result
    }

    /// `name=value` pairs joined by `&`, as in a query or a form, with the values of sensitive names replaced.
    func pairs(in text: some StringProtocol) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let name = pair[..<equals]
            return isSensitive(name.removingPercentEncoding ?? String(name)) ? "\(name)=\(placeholder)" : String(pair)
        }
        .joined(separator: "&")
    }

    private func withoutUser(_ text: Substring) -> String {
        guard let scheme = text.range(of: "://") else { return String(text) }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(text) }
        return text[..<scheme.upperBound] + placeholder + text[at...]
    }
}
