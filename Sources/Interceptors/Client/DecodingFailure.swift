public import Foundation

/// Why the response to a typed call did not become a value.
///
/// ```text
/// DecodingFailure.undecodable: User can't be decoded at friends[3].name: expected String, but found a number.
/// 200 OK, application/json, 5120 bytes (GET https://api.example.com/v1/users/42). Body: {"id":42,"friends":[{"na…
/// ```
/// What it prints is bounded and without secrets: values under sensitive names are redacted, and when there are any, the
/// decoder's own words, which might quote them, are not repeated.
public struct DecodingFailure: Error, Sendable {
    /// What went wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `empty`.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// The response has no content, and the type can't stand for none.
        public static let empty = Self(rawValue: "empty")
        /// The content isn't what the type needs, or not what the decoder reads.
        public static let undecodable = Self(rawValue: "undecodable")
        /// The status isn't a 2xx, and no interceptor took it for a success.
        public static let unsuccessfulStatus = Self(rawValue: "unsuccessfulStatus")
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong, for a person, without secrets.
    public let message: String
    /// The status of the response.
    public let status: HTTPResponse.Status
    /// The field `Content-Type` of the response.
    public let contentType: String?
    /// The path to what can't be decoded; empty for the whole.
    public let codingPath: [any CodingKey]
    /// The beginning of the content, at most 1,024 bytes of it, with secrets redacted.
    public let excerpt: String
    /// The length of the content in bytes; of an error page that is streamed, and of which it is not known, what was read.
    public let length: Int
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The URL that answered, with secrets redacted.
    public let url: String
    /// The decoder's error. Its own text may quote the content, secrets included: print this failure, not that.
    public let underlying: (any Error)?

    static let excerptLimit = 1024

    init(
        _ code: Code,
        type: Any.Type,
        response: HTTPResponse,
        body: Data,
        request: HTTPRequest,
        underlying: (any Error)?,
        isJSON: Bool
    ) {
        let reason = DecodingReason(underlying, body: body, isJSON: isJSON)
        self.code = code
        self.status = response.status
        self.contentType = response.headerFields[.contentType]
        self.codingPath = reason.path
        self.excerpt = Redaction.standard.excerpt(of: body, limit: Self.excerptLimit)
        self.length = max(body.count, response.body.length.map { Int(clamping: $0) } ?? 0)
        self.method = request.method
        self.url = Redaction.standard.string(for: request.url)
        self.underlying = underlying
        message =
            switch code {
            case .empty:
                "The response has no content to decode \(type) from. Ask for an optional if there may be none."
            case .unsuccessfulStatus:
                "The response is no success, so it isn't decoded as \(type). Use send to get it as it is."
            default:
                PrintableText.line("\(type) can't be decoded\(reason.place): \(reason.text)")
            }
    }
}

extension DecodingFailure: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, LocalizedError {
    /// Everything, without secrets, on two lines.
    public var description: String {
        // What the server chose can't forge a line of a log.
        let type = contentType.map { PrintableText.line(String($0.unicodeScalars.prefix(100))) } ?? "no Content-Type"
        var text =
            "DecodingFailure.\(code): \(message)\n\(PrintableText.line(String("\(status)".prefix(100)))), \(type)"
        text += ", \(length) bytes (\(method) \(url))."
        if !excerpt.isEmpty { text += " Body: \(PrintableText.line(excerpt))" }
        return text
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Only what is printed: a dump doesn't show the decoder's error either.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
