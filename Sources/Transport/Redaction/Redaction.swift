public import Foundation

/// What is secret in a message, and how it is printed: errors, descriptions and logs go through it.
///
/// Names are compared by their letters and digits alone and without regard to ASCII case: `api_key`, `apiKey` and
/// `API-Key` are one name. The parts of a name such as `user[pin]` or `user.pin` count as names too, and a leading `X-`
/// is ignored: `X-Session` is a secret because `session` is one.
///
/// The same rule decides which fields of a request tell its sender apart: a cache keeps their values in different
/// partitions, a coalescer never ignores them, and a redirect to another origin drops them.
public struct Redaction: Sendable {
    /// What stands in the place of a secret.
    public let placeholder: String

    private let names: SensitiveNames

    /// A redaction of these names.
    ///
    /// - Parameters:
    ///   - sensitiveParts: parts of a name that make its value a secret.
    ///   - sensitiveNames: whole names whose values are secret, also behind a leading `X-`.
    ///   - placeholder: what stands in the place of a secret.
    public init(sensitiveParts: [String], sensitiveNames: [String], placeholder: String = "<redacted>") {
        self.init(
            placeholder: placeholder,
            names: SensitiveNames(parts: sensitiveParts, wholes: sensitiveNames, endings: [])
        )
    }

    private init(placeholder: String, names: SensitiveNames) {
        self.placeholder = placeholder
        self.names = names
    }

    /// Credentials, tokens, cookies, signatures and keys, by their usual names.
    public static let standard = Redaction(
        placeholder: "<redacted>",
        names: SensitiveNames(parts: standardParts, wholes: standardNames, endings: standardEndings)
    )

    /// Parts of names that make their values secret.
    static let standardParts = [
        "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "authorization", "credential",
        "signature", "cookie", "sessionid", "sessid", "jwt", "assertion", "csrf", "xsrf", "saml", "cardnumber",
        "connectionstring", "apikey", "accesskey", "accountkey", "appkey", "applicationkey", "authkey", "clientkey",
        "encryptionkey", "functionskey", "masterkey", "privatekey", "sessionkey", "sharedkey", "signingkey", "sshkey",
        "subscriptionkey", "authcode", "backupcode", "devicecode", "recoverycode", "verificationcode",
    ]

    /// Whole names of secrets, and of fields that gateways use to say who the user is.
    static let standardNames = [
        "auth", "bearer", "code", "codeverifier", "cvc", "cvv", "dpop", "key", "otp", "pass", "pin", "rspauth",
        "session", "sid", "sig", "ssn", "ticket", "xauth", "xlogin", "xuser", "xuserid", "xusername", "xuseremail",
        "xaccount", "xaccountid", "xauthuser", "xauthemail", "xauthenticateduser", "xauthenticateduserid",
        "xforwardeduser", "xforwardedemail", "xremoteuser", "remoteuser",
    ]

    /// Names of secrets that also count behind a hyphen or underscore at the end of a longer name.
    static let standardEndings = [
        "auth", "bearer", "cvc", "cvv", "dpop", "otp", "pass", "pin", "session", "sid", "sig", "ssn", "ticket",
    ]

    /// The same with more names.
    public func adding(names more: [String]) -> Redaction {
        Redaction(placeholder: placeholder, names: names.adding(wholes: more))
    }

    /// Whether the value under this name is a secret: in a header field, a query or a JSON object.
    public func isSensitive(_ name: some StringProtocol) -> Bool {
        if let isSensitive = name.utf8.withContiguousStorageIfAvailable({ names.contains($0) }) { return isSensitive }
        return isSensitive(Array(name.utf8)[...])
    }

    /// Whether the value of a field of this name is a secret.
    package func isSensitive(_ name: HTTPField.Name) -> Bool { names.contains(name) }

    func isSensitive(_ name: ArraySlice<UInt8>) -> Bool {
        name.withUnsafeBufferPointer { names.contains($0) }
    }

    /// A field's value as it may be printed: a URL such as that of `Location` as by ``string(for:)``, any other value that
    /// isn't secret by its name as by ``text(_:)``.
    public func value(of field: HTTPField) -> String {
        switch names.kind(of: field.name) {
        case .secret: placeholder
        case .url: redactingURL(field.value)
        case .text: text(field.value)
        }
    }

    /// A URL as it may be printed: without user, password and fragment, and with the values of sensitive names in its query
    /// and in its path's parameters replaced. A value that holds another URL, a form or JSON with a secret in it is
    /// replaced as a whole.
    public func string(for url: URL) -> String { redactingURL(url.absoluteString) }

    /// Text as it may be printed.
    ///
    /// In JSON (complete, cut off, or in a string of other JSON) the values under sensitive names are replaced, at any
    /// depth, but for `true`, `false`, `null`, and under `code` a negative number or one of up to three digits; in a form,
    /// those of sensitive fields. In any other text, what looks like them: `name=value`, lines such as `Name: value`,
    /// elements and attributes of XML, parts of a multipart form, users and passwords of URLs, `Bearer` and `Basic`
    /// credentials, JSON Web Tokens. Where the end of a secret can't be told, too much is replaced rather than too little. A
    /// secret that neither its name nor its form gives away can't be found.
    public func text(_ text: String) -> String {
        // Where none of these is, there is neither a name with a value nor a token.
        guard text.utf8.withContiguousStorageIfAvailable({ Self.mayReveal($0) }) ?? true else { return text }
        return String(decoding: redacting(Array(text.utf8), isCut: false), as: UTF8.self)
    }

    func redacting(_ bytes: [UInt8], isCut: Bool) -> [UInt8] {
        TextRedactor.redacted(bytes, by: self, isCut: isCut, depth: 0) ?? bytes
    }

    static func mayReveal(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let isFound = ByteWord.contains(in: UnsafeRawBufferPointer(text)) { word in
            // What isn't asked for, `!`, `#` and `$`, is rare; `=` is `<` with a bit more.
            let isHarmless =
                word.isLow(atLeast: 0x26) & word.isLow(otherThan: UInt8(ascii: ":"))
                & word.isLow(otherThan: UInt8(ascii: "<")) & word.isLow(otherThan: UInt8(ascii: "="))
                & word.isLow(otherThan: UInt8(ascii: "\\"))
            return ~(isHarmless | word.rawValue)
        }
        let isToken = text.count > 2 && text[0] == UInt8(ascii: "e") && text[1] == UInt8(ascii: "y")
        return isFound || isToken && text[2] == UInt8(ascii: "J")
    }

    @inline(__always)
    static func mayReveal(_ byte: UInt8) -> Bool {
        let isSign = byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "<")
        let isQuote = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
        return byte <= 0x20 || isSign || isQuote || byte == UInt8(ascii: "%")
    }
}
