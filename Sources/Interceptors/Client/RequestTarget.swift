public import Foundation
internal import InterceptorsSyntax

/// The target of a call: a path below the client's base URL, or an absolute URL.
///
/// Write a literal, and interpolate values safely:
///
/// ```swift
/// let user: User = try await api.get("/users/\(id)")
/// let file: Data = try await api.get("/files/\(name)?version=\(version)")
/// ```
/// An interpolated value is data: everything except letters, digits, `-`, `.`, `_` and `~` is percent-encoded. A name like
/// `a/../b?x=1` therefore stays one segment. If an interpolated `.` or `..` forms a whole segment, no spelling makes every
/// server read it as data. The call then fails with `TransportError.unsupportedURL` before anything is sent. To
/// interpolate text that is already part of a URL, write `\(raw: text)`.
///
/// `get` and `response` take a `URL`, too. Convert one for other calls, `api.download(.init(url), to: file)`, and text that is a whole
/// path or URL: `api.get(.init(text: nextPage))`. Interpolated at the start of a literal, such text is refused in the same way, because its slashes would be encoded.
///
/// ## How it becomes a URL
/// - An absolute `http://` or `https://` URL replaces the base URL; any other scheme is refused. A prefix without `//`, as in
///   `a:b`, is part of a path, not a scheme.
/// - Any other text is a path below the base URL's, with or without a leading slash: with the base `https://h/v1`, both
///   `/users` and `users` give `https://h/v1/users`. Exactly one slash joins the two, whether or not the base URL ends with
///   one. A path never leaves the base URL: `//evil.com/x` gives `https://h/v1//evil.com/x`, and `..` segments are resolved but
///   stop at `/v1` (RFC 3986 §5.2.4). The empty path is the base URL itself.
/// - The base URL's query comes first, then the target's, then the call's. Fragments are dropped, because they are never sent
///   (RFC 9110 §4.2.5).
/// - Characters that a URL can't hold (spaces, control characters, Unicode, a lone `%`) are percent-encoded as UTF-8. Existing
///   percent-encoding is kept.
public struct RequestTarget: Sendable, Hashable {
    let text: String
    /// Whether the literal begins with an interpolated path or URL.
    private(set) var beginsWithValue = false

    /// Creates a target from text that is a whole path or URL. Untrusted text can choose the host: to put an untrusted value
    /// into a path, write a literal.
    public init(text: String) { self.text = text }

    /// Creates a target from a URL. A relative URL is treated like any other path.
    public init(_ url: URL) { self.text = url.absoluteString }
}

extension RequestTarget: ExpressibleByStringInterpolation {
    /// Creates a target from a literal path or URL.
    public init(stringLiteral text: String) { self.text = text }

    /// Creates a target from a literal path or URL with interpolated values.
    public init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
        beginsWithValue = stringInterpolation.beginsWithValue
    }

    /// Collects the pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var beginsWithValue = false

        /// Creates an empty interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Appends literal text unchanged.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends a value as data, percent-encoded.
        public mutating func appendInterpolation(_ value: some URLValue) {
            let plain = value.urlText
            if text.isEmpty { beginsWithValue = plain.hasPrefix("/") || URLText.isAbsolute(plain) }
            let encoded = PercentEncoding.component(plain)
            // Dots alone might form a dot segment. Encoded dot segments are refused when the URL is made.
            let isDots = !encoded.isEmpty && encoded.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
            text += isDots ? encoded.utf8.map { _ in "%2E" }.joined() : encoded
        }

        /// Appends a piece of a URL unchanged.
        public mutating func appendInterpolation(raw text: String) { self.text += text }
    }
}

extension RequestTarget: CustomStringConvertible {
    /// The given text without its user, password, query and fragment, which may be secret.
    public var description: String { URLText.redacted(text) }
}
