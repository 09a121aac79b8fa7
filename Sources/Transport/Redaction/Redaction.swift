public import Foundation
internal import InterceptorsSyntax

/// Decides which parts of a message are secret, and replaces them. Errors, descriptions and logs print redacted text only.
///
/// Names are compared by letters and digits alone, ignoring ASCII case: `api_key`, `apiKey` and `API-Key` are the same name.
/// Parts of a name such as `user[pin]` or `user.pin` count as names too. A leading `X-` is ignored: `X-Session` is sensitive
/// because `session` is.
///
/// Request fields that are sensitive to ``standard`` also identify a user. A cache partitions by their values, a coalescer never
/// ignores them, and a redirect to another origin drops them.
public struct Redaction: Sendable {
    /// The text that replaces a secret.
    public let placeholder: String

    private let names: SensitiveNames
    /// Whether a secret number in JSON becomes a number, and a secret object or array keeps its shape.
    let keepsTypes: Bool

    /// Creates a redaction of the given names.
    ///
    /// - Parameters:
    ///   - sensitiveParts: parts of names. A name that contains one of them is sensitive.
    ///   - sensitiveNames: whole names, which are sensitive also after a leading `X-`.
    ///   - placeholder: the text that replaces a secret. By default `<redacted>`.
    public init(sensitiveParts: [String], sensitiveNames: [String], placeholder: String = "<redacted>") {
        self.init(
            placeholder: placeholder,
            names: SensitiveNames(parts: sensitiveParts, wholes: sensitiveNames, endings: [])
        )
    }

    private init(placeholder: String, names: SensitiveNames, keepsTypes: Bool = false) {
        self.placeholder = placeholder
        self.names = names
        self.keepsTypes = keepsTypes
    }

    /// Redacts credentials, tokens, cookies, signatures and keys under their usual names.
    public static let standard = Redaction(
        placeholder: "<redacted>",
        names: SensitiveNames(parts: standardParts, wholes: standardNames, endings: standardEndings)
    )

    /// Parts of names that make a value secret.
    static let standardParts = [
        "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "authorization", "credential",
        "signature", "cookie", "sessionid", "sessid", "jwt", "assertion", "csrf", "xsrf", "saml", "cardnumber",
        "connectionstring", "apikey", "accesskey", "accountkey", "appkey", "applicationkey", "authkey", "clientkey",
        "encryptionkey", "functionskey", "masterkey", "privatekey", "sessionkey", "sharedkey", "signingkey", "sshkey",
        "subscriptionkey", "authcode", "backupcode", "devicecode", "recoverycode", "verificationcode",
    ]

    /// Whole names of secrets, and of fields in which gateways name the user.
    static let standardNames = [
        "auth", "bearer", "code", "codeverifier", "cvc", "cvv", "dpop", "key", "otp", "pass", "pin", "rspauth",
        "session", "sid", "sig", "ssn", "ticket", "xauth", "xlogin", "xuser", "xuserid", "xusername", "xuseremail",
        "xaccount", "xaccountid", "xauthuser", "xauthemail", "xauthenticateduser", "xauthenticateduserid",
        "xforwardeduser", "xforwardedemail", "xremoteuser", "remoteuser",
    ]

    /// Names of secrets that also count after the last hyphen or underscore of a longer name.
    static let standardEndings = [
        "auth", "bearer", "cvc", "cvv", "dpop", "otp", "pass", "pin", "session", "sid", "sig", "ssn", "ticket",
    ]

    /// This redaction with additional sensitive names, for the interceptor that gets it, such as `logging`.
    ///
    /// Caches, coalescing, the chain's order check and errors go by ``standard``. For a credential under a name that ``standard``
    /// doesn't know, an interceptor calls `identifyCaller(by:as:)` before it adds the field.
    ///
    /// - Parameter more: whole names, which are sensitive also after a leading `X-`. `Frob` covers `X-Frob`, and not `X-My-Frob`.
    public func adding(names more: [String]) -> Redaction {
        Redaction(placeholder: placeholder, names: names.adding(wholes: more), keepsTypes: keepsTypes)
    }

    /// This redaction for content that a program reads afterwards, and not only a person.
    ///
    /// In JSON, a secret string becomes the placeholder, and a secret number 0. A secret object or array keeps its shape: the same
    /// applies to its members and elements. `true`, `false` and `null` are kept.
    ///
    /// - Parameter placeholder: the text that replaces a secret: letters, which markup, URLs and JSON can contain as they are.
    package func keepingTypes(placeholder: String) -> Redaction {
        Redaction(placeholder: placeholder, names: names, keepsTypes: true)
    }

    /// Whether a value under this name is secret, in a header field, a query or a JSON object.
    public func isSensitive(_ name: some StringProtocol) -> Bool {
        if let isSensitive = name.utf8.withContiguousStorageIfAvailable({ names.contains($0) }) { return isSensitive }
        return isSensitive(Array(name.utf8)[...])
    }

    /// Whether the value of a field with this name is secret.
    package func isSensitive(_ name: HTTPField.Name) -> Bool { names.contains(name) }

    func isSensitive(_ name: ArraySlice<UInt8>) -> Bool {
        name.withUnsafeBufferPointer { names.contains($0) }
    }

    /// A field's value in printable form. A sensitive field's value is replaced as a whole. A URL, such as `Location`'s, is
    /// redacted as by ``string(for:)``. In `Upload-Metadata` (tus 1.0), the values of sensitive keys are replaced. Any other value is
    /// redacted as by ``text(_:)``.
    public func value(of field: HTTPField) -> String {
        switch names.kind(of: field.name) {
        case .secret: placeholder
        case .url: redactingURL(field.value)
        case .metadata: redactingMetadata(field.value)
        case .text: text(field.value)
        }
    }

    /// A URL in printable form. The user and password are replaced, and so are the values of sensitive names in the query and
    /// in path parameters. The fragment is dropped. A value that contains another URL, a form or JSON with a secret is replaced
    /// as a whole.
    public func string(for url: URL) -> String { redactingURL(url.absoluteString) }

    /// Text in printable form.
    ///
    /// In JSON (complete, cut off, or nested in a JSON string), values under sensitive names are replaced at any depth. `true`,
    /// `false` and `null` are kept; so are, under `code`, negative numbers, numbers of up to three digits, and names of errors such
    /// as `"TOKEN_EXPIRED"`: words in one case, joined by underscores. A longer number may be a one-time code, and another word an
    /// OAuth code, so they are replaced. In a form, the values of sensitive fields are replaced.
    ///
    /// In other text, anything that looks like a secret is replaced:
    /// - `name=value`, and lines such as `Name: value`;
    /// - XML elements and attributes, and parts of a multipart form;
    /// - users and passwords in URLs, `Bearer` and `Basic` credentials, JSON Web Tokens.
    ///
    /// If the end of a secret is unclear, too much is replaced rather than too little. A secret without a telling name or form
    /// can't be found.
    public func text(_ text: String) -> String {
        // Text without any of these bytes contains neither a named value nor a token.
        guard text.utf8.withContiguousStorageIfAvailable({ Self.mayReveal($0) }) ?? true else { return text }
        return String(decoding: redacting(Array(text.utf8), isCut: false), as: UTF8.self)
    }

    /// Text in printable form, of which the end may be missing: a secret that is cut off is replaced too.
    package func text(_ text: String, isCut: Bool) -> String {
        isCut ? String(decoding: redacting(Array(text.utf8), isCut: true), as: UTF8.self) : self.text(text)
    }

    func redacting(_ bytes: [UInt8], isCut: Bool) -> [UInt8] {
        TextRedactor.redacted(bytes, by: self, isCut: isCut, depth: 0) ?? bytes
    }

    static func mayReveal(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let isFound = ByteWord.contains(in: UnsafeRawBufferPointer(text)) { word in
            // All bytes below `&` count, although `!`, `#` and `$` reveal nothing: those are rare, and one comparison suffices.
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
