internal import Foundation

/// Formats log entries as text.
struct LogEntryText: Sendable {
    /// The prefix of every line of an entry except the first, so that no field or body can imitate an entry.
    static let indent = "    "
    private static let newLine = "\n" + indent
    private static let longestError = 4 << 10

    private let level: LogLevel
    private let label: String
    private let curl: CurlCommand?
    private let body: LoggedBody
    private let redaction: Redaction

    init(level: LogLevel, label: String?, curl: Bool, body: LoggedBody, redaction: Redaction) {
        self.level = level
        self.label = label.map { PrintableText.line($0) + " #" } ?? "#"
        self.curl = curl ? CurlCommand(body: body, redaction: redaction) : nil
        self.body = body
        self.redaction = redaction
    }

    // MARK: Requests

    /// The first entry of an exchange. Redacting and indenting a body takes time, so an entry with content is made off the
    /// caller's actor.
    func start(_ request: HTTPRequest, _ number: UInt64) async -> String {
        let showsContent = (level == .body || curl != nil) && !request.body.isEmpty
        return showsContent ? await elsewhere { entry(request, number) } : entry(request, number)
    }

    private func entry(_ request: HTTPRequest, _ number: UInt64) -> String {
        var text = opening("-->", number) + PrintableText.line(request.method.rawValue)
        text += " " + PrintableText.line(redaction.string(for: request.url))
        if !request.body.isEmpty { text += " (\(Self.size(of: request.body)))" }
        append(request.headerFields, request.body, to: &text)
        if let curl { text += Self.newLine + curl.line(for: request) }
        return text
    }

    // MARK: Responses

    /// The last entry of an exchange with a response; with content, it is made off the caller's actor.
    func end(_ response: HTTPResponse, _ number: UInt64, after time: Duration) async -> String {
        let showsContent = level == .body && !response.body.isEmpty
        return showsContent
            ? await elsewhere { entry(response, number, after: time) } : entry(response, number, after: time)
    }

    private func entry(_ response: HTTPResponse, _ number: UInt64, after time: Duration) -> String {
        var text = opening("<--", number) + "\(response.status.code)"
        let phrase = response.status.phrase(redactedBy: redaction)
        if !phrase.isEmpty { text += " " + PrintableText.line(phrase) }
        // Inner interceptors may have changed the URL, so without the response's own URL none is logged.
        if let url = response.url { text += " " + PrintableText.line(redaction.string(for: url)) }
        text += " (\(time.logged), \(Self.size(of: response.body)))"
        append(response.headerFields, response.body, to: &text)
        return text
    }

    @concurrent
    private func elsewhere(_ make: @Sendable () -> String) async -> String { make() }

    // MARK: Other ends

    func cancelled(_ number: UInt64, after time: Duration) -> String {
        opening("<--", number) + "cancelled after \(time.logged)"
    }

    func failed(_ number: UInt64, with error: any Error, after time: Duration) -> String {
        let cause = redaction.text(ErrorText.description(of: error))
        let isLong = cause.utf8.count > Self.longestError
        let shown = isLong ? String(decoding: cause.utf8.prefix(Self.longestError), as: UTF8.self) + "…" : cause
        let lines = PrintableText.lines(shown, indent: Self.indent).utf8.dropFirst(Self.indent.utf8.count)
        return opening("<--", number) + "failed after \(time.logged): \(Substring(lines))"
    }

    // MARK: Parts

    private func opening(_ arrow: String, _ number: UInt64) -> String { "\(arrow) \(label)\(number) " }

    private static func size(of body: HTTPBody) -> String {
        if let bytes = body.bytes { return "\(bytes.count) bytes" }
        if body.file != nil { return body.description }
        // The stream may still break off.
        return body.length.map { "stream, \($0) bytes announced" } ?? "stream"
    }

    private func append(_ fields: HTTPFields, _ body: HTTPBody, to text: inout String) {
        guard level != .basic else { return }
        for field in fields {
            text += Self.newLine
            text += PrintableText.line(field.name.rawName)
            text += ": "
            text += PrintableText.line(redaction.value(of: field))
        }
        guard level == .body, !body.isEmpty else { return }
        text += "\n\n" + PrintableText.lines(self.body.text(of: body, fields), indent: Self.indent)
    }
}
