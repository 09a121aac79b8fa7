public import Foundation
internal import InterceptorsSyntax

/// Decides which parts of a message are secret, and replaces them.
///
/// Errors, descriptions, logs and journals print redacted text only, by ``standard``: a name that may mean a secret counts, because
/// one value too few does no harm there. Recordings go by ``credentials``: what they keep plays, so only credentials are replaced.
///
/// Names are compared by letters and digits alone, ignoring ASCII case: `api_key`, `apiKey` and `API-Key` are the same name.
/// Parts of a name such as `user[pin]` or `user.pin` count as names too. A leading `X-` is ignored: `X-Session` is sensitive
/// because `session` is.
///
/// Request fields that are sensitive to ``standard`` also identify a user. A cache partitions by their values, a coalescer never
/// ignores them, and a redirect to another origin drops them.
public struct Redaction: Sendable {
    /// The text that replaces a secret.
    public private(set) var placeholder: String

    private var names: SensitiveNames
    /// Whether the result is read by a program afterwards: see ``forPrograms(placeholder:noting:)``.
    private(set) var isForPrograms = false
    /// Whether content of unknown structure is shown.
    private(set) var showsOtherText = false
    private var noted: (@Sendable (String) -> Void)?

    /// Creates a redaction of the given names.
    ///
    /// - Parameters:
    ///   - sensitiveParts: parts of names. A name that contains one of them is sensitive.
    ///   - sensitiveNames: whole names, which are sensitive also after a leading `X-`.
    ///   - placeholder: the text that replaces a secret. By default `<redacted>`.
    public init(sensitiveParts: [String], sensitiveNames: [String], placeholder: String = "<redacted>") {
        self.init(SensitiveWords(parts: sensitiveParts, wholes: sensitiveNames), placeholder: placeholder)
    }

    private init(_ words: SensitiveWords, placeholder: String = "<redacted>") {
        (self.placeholder, names) = (placeholder, SensitiveNames(words))
    }

    /// For people: credentials, tokens, cookies, signatures and keys under their usual names, and names that often mean one.
    public static let standard = Redaction(.standard)

    /// For recordings: passwords, tokens, keys, cookies and one-time codes under their usual names, and nothing else. Names such as
    /// `code`, `key` and `nextPageToken` aren't among them.
    public static let credentials = Redaction(.credentials)

    /// This redaction with additional sensitive names, for the interceptor that gets it, such as `logging`.
    ///
    /// Caches, coalescing, the chain's order check and errors go by ``standard``. For a credential under a name that ``standard``
    /// doesn't know, an interceptor calls `identifyCaller(by:as:)` before it adds the field.
    ///
    /// - Parameter more: whole names, which are sensitive also after a leading `X-`. `Frob` covers `X-Frob`, and not `X-My-Frob`.
    public func adding(names more: [String]) -> Redaction {
        var redaction = self
        redaction.names = names.adding(wholes: more)
        return redaction
    }

    /// This redaction without some names, such as `key` where it never names a secret.
    ///
    /// - Parameter fewer: whole names, whose values are shown.
    public func removing(names fewer: [String]) -> Redaction {
        var redaction = self
        redaction.names = names.removing(wholes: fewer)
        return redaction
    }

    /// This redaction, which also shows content of unknown structure, such as a page or a script: see ``excerpt(of:type:limit:)``. Secrets
    /// in it are replaced as by ``text(_:)``.
    public var showingOtherText: Redaction {
        var redaction = self
        redaction.showsOtherText = true
        return redaction
    }

    /// This redaction for content that a program reads afterwards, and not only a person.
    ///
    /// A secret number of JSON becomes 0, a secret object or array keeps its shape, and text without a known structure keeps everything
    /// but tokens that tell by their form, users in URLs, and sensitive names in queries.
    ///
    /// - Parameters:
    ///   - placeholder: the text that replaces a secret: letters, which markup, URLs and JSON can contain as they are.
    ///   - noting: called with the name of each value that is replaced.
    package func forPrograms(placeholder: String, noting: (@Sendable (String) -> Void)? = nil) -> Redaction {
        var redaction = self
        (redaction.placeholder, redaction.isForPrograms, redaction.noted) = (placeholder, true, noting)
        return redaction
    }

    /// Reports a value that is replaced. The name is made only if somebody asks for it.
    package func note(_ name: @autoclosure () -> String) { noted?(name()) }

    /// Whether a value under this name is secret, in a header field, a query or a JSON object.
    public func isSensitive(_ name: some StringProtocol) -> Bool {
        if let isSensitive = name.utf8.withContiguousStorageIfAvailable({ names.contains($0) }) { return isSensitive }
        return isSensitive(Array(name.utf8)[...])
    }

    /// Whether the value of a field with this name is secret.
    package func isSensitive(_ name: HTTPField.Name) -> Bool { names.contains(name) }

    func isSensitive(_ name: ArraySlice<UInt8>) -> Bool { name.withUnsafeBufferPointer { names.contains($0) } }

    /// A field's value in printable form. A sensitive field's value is replaced as a whole. A URL, such as `Location`'s, is
    /// redacted as by ``string(for:)``. In `Upload-Metadata` (tus 1.0), the values of sensitive keys are replaced. Any other value is
    /// redacted as by ``text(_:)``.
    public func value(of field: HTTPField) -> String {
        switch field.name {
        case .location, .contentLocation, .referer: return redactingURL(field.value)
        case _ where isSensitive(field.name):
            note(field.name.rawName)
            return placeholder
        case Self.uploadMetadata: return redactingMetadata(field.value)
        default: return text(field.value)
        }
    }

    private static let uploadMetadata: HTTPField.Name = "Upload-Metadata"

    /// A field's value in printable form. That of a declared credential, or of a field that always carries one, is replaced as a whole.
    package func value(of field: HTTPField, declared: [HTTPField.Name]) -> String {
        guard declared.contains(field.name) || field.name.carriesCredentials else { return value(of: field) }
        note(field.name.rawName)
        return placeholder
    }

    /// A URL in printable form. The user and password are replaced, and so are the values of sensitive names in the query and
    /// in path parameters. The fragment is dropped. A value that contains another URL, a form or JSON with a secret is replaced
    /// as a whole.
    public func string(for url: URL) -> String { redactingURL(url.absoluteString) }

    /// Text in printable form: an error's description, a line of a log, a field's value.
    ///
    /// In text that is JSON, values under sensitive names are replaced at any depth. In other text, these are replaced:
    /// - the values of sensitive names: `name=value`, `Name: value`, `"name": "value"`;
    /// - the users and passwords of URLs, and the word after `Bearer`, `Basic` and the like;
    /// - JSON Web Tokens, the marked tokens of some services such as `ghp_…`, and private keys in PEM.
    ///
    /// `true`, `false` and `null` are kept; so are, under `code`, negative numbers, numbers of up to three digits, and names of errors such
    /// as `TOKEN_EXPIRED`. A secret without a telling name or form can't be found.
    public func text(_ text: String) -> String {
        let mayReveal = text.utf8.withContiguousStorageIfAvailable { Self.mayReveal($0) }
        guard mayReveal ?? true else { return text }
        return redacted(Array(text.utf8), isCut: false).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// The beginning of text in printable form.
    package func text(_ text: String, limit: Int) -> String {
        let shown = self.text(text)
        guard shown.utf8.count > limit else { return shown }
        return String(decoding: shown.utf8.prefix(limit), as: UTF8.self) + "…"
    }

    /// Text without its secrets; `nil` if it holds none.
    ///
    /// - Parameter depth: the number of texts around this one, such as a string of JSON.
    package func redacted(_ text: [UInt8], isCut: Bool, depth: Int = 0) -> [UInt8]? {
        guard isCut || text.withUnsafeBufferPointer(Self.mayReveal) else { return nil }
        guard depth <= 6 else { return Array(placeholder.utf8) }
        let first = text.first { $0 > 0x20 }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            var redactor = JSONRedactor(text, by: self, isCut: isCut, depth: depth)
            let json = redactor.run()
            if json.isJSON { return json.text == text ? nil : json.text }
        }
        var redactor = TextRedactor(text, by: self, isCut: isCut, depth: depth)
        return redactor.run()
    }

    /// Whether text has a byte that separates a name from its value, an encoded one, or a token that tells by its form.
    static func mayReveal(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let isFound = ByteWord.contains(in: UnsafeRawBufferPointer(text)) { word in
            // All bytes below `&` count, although `!`, `#` and `$` reveal nothing: those are rare, and one comparison suffices.
            let isHarmless =
                word.isLow(atLeast: 0x26) & word.isLow(otherThan: UInt8(ascii: ":"))
                & word.isLow(otherThan: UInt8(ascii: "@")) & word.isLow(otherThan: UInt8(ascii: "="))
                & word.isLow(otherThan: UInt8(ascii: "\\"))
            return ~(isHarmless | word.rawValue)
        }
        return isFound || KnownSecret.isToken(text, isCut: false)
    }
}
