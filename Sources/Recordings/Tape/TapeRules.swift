internal import InterceptorsSyntax
internal import InterceptorsTransport

/// The comparison of a recording, and the redaction before it.
struct TapeRules: Sendable {
    typealias Key = RequestKey

    let matching: RequestMatching
    let redaction: ExchangeRedaction

    /// The key of a request, whether it is redacted or not.
    func key(of request: RecordedExchange.Request) -> Key {
        let key = matching.key(of: request, redaction)
        // A recording keeps the keys of all entries, and a key holds a whole content.
        return key.bytes.count > 1_024 ? Key(bytes: PortableSHA256.digest(key.bytes)) : key
    }

    /// A request's method and URL, without secrets.
    func name(of request: RecordedExchange.Request) -> String {
        PrintableText.line("\(request.method) \(redaction.url(request.url))")
    }
}
