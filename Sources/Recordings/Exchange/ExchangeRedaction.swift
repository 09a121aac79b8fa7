internal import Foundation

/// Replaces secrets in what a recording keeps, and in requests that are compared with it.
///
/// Redacting a second time changes nothing: a request finds its answer whether or not it still holds the secret.
struct ExchangeRedaction: Sendable {
    /// Finds secrets by names and shapes; `nil` keeps them.
    let redaction: Redaction?
    /// The program's own replacement in URLs, in fields' values, in text and in messages. It must not change its own results.
    let hook: (@Sendable (String) -> String)?

    /// Whether contents may end within a secret, because they broke off.
    var isCut = false

    static let standard = ExchangeRedaction()

    /// The text in place of each secret, whatever the placeholder of the redaction is.
    ///
    /// A program reads the text when it plays. Letters have no meaning in a URL, in markup, in a field or in JSON (RFC 3986 §2.3).
    static let placeholder = "REDACTED"

    init(
        _ redaction: Redaction? = .credentials,
        hook: (@Sendable (String) -> String)? = nil,
        noting: (@Sendable (String) -> Void)? = nil
    ) {
        self.redaction = redaction?.forPrograms(placeholder: Self.placeholder, noting: noting)
        self.hook = hook
    }

    /// The same redaction, which calls a closure with the name of each value that it replaces.
    func noting(_ note: @escaping @Sendable (String) -> Void) -> Self {
        ExchangeRedaction(redaction, hook: hook, noting: note)
    }

    var isOff: Bool { redaction == nil && hook == nil }

    // MARK: Text

    func text(_ text: String) -> String { hooked(redaction?.text(text) ?? text) }

    /// Text that no program reads.
    private func forPeople(_ text: String) -> String {
        redaction == nil ? self.text(text) : Redaction.standard.text(self.text(text))
    }

    func url(_ url: String) -> String { hooked(redaction?.redactingURL(url) ?? url) }

    private func hooked(_ text: String) -> String { hook?(text) ?? text }

    // MARK: Fields

    /// - Parameter declared: the fields that are credentials whatever their names say.
    func fields(_ fields: HTTPFields, declared: [HTTPField.Name] = []) -> HTTPFields {
        isOff ? fields : HTTPFields(fields.map { HTTPField(unchecked: $0.name, value(of: $0, declared: declared)) })
    }

    func value(of field: HTTPField, declared: [HTTPField.Name] = []) -> String {
        guard let redaction else { return hooked(field.value) }
        let value = redaction.value(of: field, declared: declared)
        guard redaction.isSensitive(field.name) else { return hooked(value) }
        return field.name == .setCookie ? setCookie(field.value, redaction) : value
    }

    private static let cookieAttributes: Set = [
        "expires", "max-age", "domain", "path", "secure", "httponly", "samesite", "partitioned", "priority",
    ]

    /// A cookie without its value. A client that stores it sends the placeholder, and the cookie expires as recorded.
    private func setCookie(_ value: String, _ redaction: Redaction) -> String {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false)
        guard let first = parts.first, let sign = first.firstIndex(of: "=") else { return Self.placeholder }
        let attributes = parts.dropFirst().filter { part in
            Self.cookieAttributes.contains(part.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces).lowercased())
        }
        let cookie = text(String(first[..<sign])) + "=" + Self.placeholder
        return ([cookie] + attributes.map { text(String($0)) }).joined(separator: ";")
    }

    // MARK: Exchanges

    /// The exchange as it may be written.
    func redacted(_ exchange: RecordedExchange) -> RecordedExchange {
        guard !isOff else { return exchange }
        var exchange = exchange
        exchange.request = redacted(exchange.request)
        let isCut = exchange.failure != nil
        let declared = exchange.request.credentialFields
        exchange.response = exchange.response.map { redacted($0, isCut: isCut, declared: declared) }
        if let failure = exchange.failure {
            exchange.failure = .init(code: forPeople(failure.code), message: forPeople(failure.message))
        }
        return exchange
    }

    func redacted(_ request: RecordedExchange.Request) -> RecordedExchange.Request {
        var redacted = request
        redacted.url = url(request.url)
        redacted.headers = fields(request.headers, declared: request.credentialFields)
        switch request.body.map({ content($0, request.headers) }) {
        case nil, .unchanged?: break
        case .changed(let bytes)?:
            redacted.body = bytes
            redacted.headers = Self.corrected(redacted.headers, length: bytes.count)
        case .unreadable(let reason)?:
            redacted.body = nil
            redacted.omission = reason
        }
        return redacted
    }

    private func redacted(
        _ response: RecordedExchange.Response,
        isCut: Bool,
        declared: [HTTPField.Name]
    ) -> RecordedExchange.Response {
        var ofContent = self
        ofContent.isCut = isCut
        var redacted = response
        // A server's own phrase may be any text.
        redacted.status = HTTPResponse.Status(code: response.status.code) ?? response.status
        redacted.headers = fields(response.headers, declared: declared)
        redacted.trailers = response.trailers.map { fields($0, declared: declared) }
        let original = response.content
        switch ofContent.content(original, response.headers) {
        case .unchanged: break
        case .changed(let bytes):
            redacted.chunks = ChunkSplit.chunks(like: response.chunks, of: original, bytes)
            redacted.headers = Self.corrected(redacted.headers, length: bytes.count)
            redacted.trailers = redacted.trailers.map { Self.corrected($0, length: bytes.count) }
        case .unreadable(let reason):
            redacted.chunks = []
            redacted.omission = reason
        }
        return redacted
    }

    /// The fields without the original coding and digests, and with the new length.
    private static func corrected(_ fields: HTTPFields, length: Int) -> HTTPFields {
        var fields = fields
        fields.remove(.contentEncoding)
        fields.removeDigests()
        if fields.contains(.contentLength) { fields[.contentLength] = String(length) }
        return fields
    }
}
