internal import Foundation

/// Formats log entries as text.
struct LogEntryText: Sendable {
    /// The prefix of every line of an entry except the first, so that no field or body can imitate an entry.
    static let indent = "    "
    private static let newLine: StaticString = "\n    "
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
        TextBytes.making { text in
            open("--> ", number, &text)
            text.append(line: request.method.rawValue)
            text.append(literal: " ")
            text.append(line: redaction.string(for: request.url))
            if !request.body.isEmpty {
                text.append(literal: " (")
                append(size: request.body, to: &text)
                text.append(literal: ")")
            }
            append(request.headers, request.body, to: &text)
            if let curl {
                text.append(literal: Self.newLine)
                text.append(curl.line(for: request))
            }
        }
    }

    // MARK: Responses

    /// The last entry of an exchange with a response; with content, it is made off the caller's actor.
    func end(_ response: HTTPResponse, _ number: UInt64, after time: Duration) async -> String {
        let showsContent = level == .body && !response.body.isEmpty
        return showsContent
            ? await elsewhere { entry(response, number, after: time) } : entry(response, number, after: time)
    }

    private func entry(_ response: HTTPResponse, _ number: UInt64, after time: Duration) -> String {
        TextBytes.making { text in
            open("<-- ", number, &text)
            text.append(UInt64(response.status.code))
            let phrase = response.status.phrase(redactedBy: redaction)
            if !phrase.isEmpty {
                text.append(literal: " ")
                text.append(line: phrase)
            }
            // Inner interceptors may have changed the URL, so without the response's own URL none is logged.
            if let url = response.url {
                text.append(literal: " ")
                text.append(line: redaction.string(for: url))
            }
            text.append(literal: " (")
            text.append(logged: time)
            text.append(literal: ", ")
            append(size: response.body, to: &text)
            text.append(literal: ")")
            append(response.headers, response.body, to: &text)
        }
    }

    @concurrent
    private func elsewhere(_ make: @Sendable () -> String) async -> String { make() }

    // MARK: Other ends

    func cancelled(_ number: UInt64, after time: Duration) -> String {
        TextBytes.making { text in
            open("<-- ", number, &text)
            text.append(literal: "cancelled after ")
            text.append(logged: time)
        }
    }

    func failed(_ number: UInt64, with error: any Error, after time: Duration) -> String {
        let cause = redaction.text(ErrorText.description(of: error))
        let isLong = cause.utf8.count > Self.longestError
        let shown = isLong ? String(decoding: cause.utf8.prefix(Self.longestError), as: UTF8.self) + "…" : cause
        let lines = PrintableText.lines(shown, indent: Self.indent).utf8.dropFirst(Self.indent.utf8.count)
        return TextBytes.making { text in
            open("<-- ", number, &text)
            text.append(literal: "failed after ")
            text.append(logged: time)
            text.append(literal: ": ")
            text.append(String(Substring(lines)))
        }
    }

    // MARK: Parts

    private func open(_ arrow: StaticString, _ number: UInt64, _ text: inout TextBytes) {
        text.append(literal: arrow)
        text.append(label)
        text.append(number)
        text.append(literal: " ")
    }

    private func append(size body: HTTPBody, to text: inout TextBytes) {
        if let bytes = body.data {
            text.append(UInt64(bytes.count))
            text.append(literal: " bytes")
        } else if body.file == nil, let length = body.length {
            // The stream may still break off.
            text.append("stream, \(length) bytes announced")
        } else {
            text.append(body.file == nil ? "stream" : body.description)
        }
    }

    private func append(_ fields: HTTPFields, _ body: HTTPBody, to text: inout TextBytes) {
        guard level != .basic else { return }
        for field in fields {
            text.append(literal: Self.newLine)
            text.append(line: field.name.rawName)
            text.append(literal: ": ")
            text.append(line: redaction.value(of: field))
        }
        guard level == .body, !body.isEmpty else { return }
        text.append(literal: "\n\n")
        text.append(PrintableText.lines(self.body.text(of: body, fields), indent: Self.indent))
    }
}
