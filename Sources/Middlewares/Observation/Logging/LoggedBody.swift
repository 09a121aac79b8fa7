internal import Foundation
internal import InterceptorsSyntax

/// Decides how much of a body is logged: never more than the limit, and nothing that would have to be read first.
struct LoggedBody: Sendable {
    private let limit: Int
    private let isPretty: Bool
    private let redaction: Redaction?

    init(limit: Int, isPretty: Bool, redaction: Redaction?) {
        self.limit = max(0, limit)
        self.isPretty = isPretty
        self.redaction = redaction
    }

    /// The body as text, or a summary of it.
    ///
    /// - Parameter fields: the fields of the body's message.
    func text(of body: HTTPBody, _ fields: HTTPFields) -> String {
        guard let bytes = body.data else { return "<\(body)>" }
        guard bytes.count <= limit else { return "<\(bytes.count) bytes, over the limit of \(limit)>" }
        let text =
            redaction?.excerpt(of: bytes, type: fields[.contentType], limit: bytes.count)
            ?? String(decoding: bytes, as: UTF8.self)
        return isPretty ? JSONIndentation.indented(text) ?? text : text
    }

    /// The body with secrets redacted; `nil` unless it is in memory, within the limit, text without NUL characters, and shown by the
    /// redaction.
    func wholeText(of body: HTTPBody, _ fields: HTTPFields) -> String? {
        guard let bytes = body.data, bytes.count <= limit else { return nil }
        let type = fields[.contentType]
        return Redaction.beginning(of: bytes, type: type, upTo: bytes.count, redactedBy: redaction)?.text
    }
}
