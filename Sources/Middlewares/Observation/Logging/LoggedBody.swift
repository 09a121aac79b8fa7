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
    func text(of body: HTTPBody) -> String {
        guard let bytes = body.bytes else { return "<\(body)>" }
        guard bytes.count <= limit else { return "<\(bytes.count) bytes, over the limit of \(limit)>" }
        let text = excerpt(of: bytes)
        return isPretty ? JSONIndentation.indented(text) ?? text : text
    }

    /// The body with secrets redacted; `nil` unless it is in memory, within the limit, and text without NUL characters.
    func wholeText(of body: HTTPBody) -> String? {
        guard let bytes = body.bytes, bytes.count <= limit, String(validating: bytes, as: UTF8.self) != nil,
            !bytes.contains(0)
        else { return nil }
        return excerpt(of: bytes)
    }

    private func excerpt(of bytes: Data) -> String {
        redaction?.excerpt(of: bytes, limit: bytes.count) ?? String(decoding: bytes, as: UTF8.self)
    }
}
