public import Foundation

/// What a call is for: a path below the client's base URL, or an absolute URL.
///
/// Written as a literal, with values put in safely:
///
/// ```swift
/// let user: User = try await api.get("/users/\(id)")
/// let file: Data = try await api.get("/files/\(name)?version=\(version)")
/// ```
/// A value that is put in by `\(…)` is data: everything in it but letters, digits, `-`, `.`, `_` and `~` is
/// percent-encoded, so that a name like `a/../b?x=1` stays one segment. A value that is `.` or `..` as a whole segment
/// can't be written in a URL in any way that every server takes for data: the call fails with
/// ``TransportError/Code/unsupportedURL`` before anything is sent. To put in text that is a piece of a URL, say so:
/// `\(raw: text)`.
///
/// URLs and text from elsewhere are converted: `api.get(.init(url))`, `api.get(.init(text: nextPage))`.
///
/// ## How it becomes a URL
/// - An absolute `http://` or `https://` URL wins over the base URL; any other scheme is refused. What isn't followed by
///   `//` is no scheme: `a:b` is a path.
/// - Everything else is a path below that of the base URL, with or without a leading slash: with the base `https://h/v1`,
///   both `/users` and `users` give `https://h/v1/users`. One slash joins them, whether the base URL ends with one or
///   not. It never leaves the base URL: `//evil.com/x` gives `https://h/v1//evil.com/x`, and `..` segments, which are
///   resolved, stop at `/v1` (RFC 3986 §5.2.4). The empty path is the base URL itself.
/// - The query of the base URL comes first, then the target's own, then that of the call. Fragments are dropped: they are
///   never sent (RFC 9110 §4.2.5).
/// - What a URL can't hold (spaces, control characters, Unicode, a lone `%`) is percent-encoded as UTF-8; what is encoded
///   already stays as it is.
public struct RequestTarget: Sendable, Hashable {
    let text: String

    /// Text that is a path or a URL as a whole. If it comes from outside, so does the choice of the host: to put a value
    /// into a path, write a literal.
    public init(text: String) { self.text = text }

    /// A URL; a relative one is a path like any other.
    public init(_ url: URL) { self.text = url.absoluteString }
}

extension RequestTarget: ExpressibleByStringInterpolation {
    /// A path or URL written in code.
    public init(stringLiteral text: String) { self.text = text }

    /// A path or URL written in code, with values put in.
    public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Collects the pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        /// No pieces yet.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Adds text as it is written.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Adds a value as data, percent-encoded.
        public mutating func appendInterpolation(_ value: some URLValue) {
            let encoded = PercentEncoding.component(value.urlText)
            // Dots alone might make a dot segment. Encoded, they are refused when the URL is made.
            let isDots = !encoded.isEmpty && encoded.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
            text += isDots ? encoded.utf8.map { _ in "%2E" }.joined() : encoded
        }

        /// Adds a piece of a URL as it is.
        public mutating func appendInterpolation(raw text: String) { self.text += text }
    }
}

extension RequestTarget: CustomStringConvertible {
    /// The text as given, without what may be secret in it: user, password, query and fragment.
    public var description: String { URLText.redacted(text) }
}
