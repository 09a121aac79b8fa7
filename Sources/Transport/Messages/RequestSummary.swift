public import Foundation

extension HTTPRequest {
    /// The method and the URL of a request, without secrets, for errors and logs.
    public struct Summary: Sendable, Hashable, CustomStringConvertible {
        /// The request's method.
        public let method: Method
        /// The request's URL, with secrets redacted by ``Redaction/standard``.
        public let url: String

        /// Creates a summary. Only the redacted URL is kept.
        public init(method: Method = .get, url: URL) {
            self.method = method
            self.url = Redaction.standard.string(for: url)
        }

        /// Both on one line, such as `GET https://api.example.com/users?token=<redacted>`.
        public var description: String { "\(PrintableText.line(method.rawValue)) \(url)" }
    }

    /// The method and the redacted URL.
    public var summary: Summary { Summary(method: method, url: url) }
}
