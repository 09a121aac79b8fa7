internal import Foundation

/// Thrown when the response to a typed call can't become a value.
///
/// ```text
/// DecodingFailure.undecodable: User can't be decoded at friends[3].name: expected String, but found a number.
/// 200 OK, application/json, 5120 bytes (GET https://api.example.com/v1/users/42). Body: {"id":42,"friends":[{"na…
/// ```
/// The printed text is bounded and free of secrets: values under sensitive names are redacted. If the content has any, the
/// decoder's own message is left out, because it might quote them.
public struct DecodingFailure: Error, Sendable {
    /// The kind of failure. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `empty`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The response has no content, and the type can't represent an absent value.
        public static let empty = Self(rawValue: "empty")
        /// The content doesn't match the type, or isn't in the decoder's format.
        public static let undecodable = Self(rawValue: "undecodable")
        /// The status isn't a 2xx, and no interceptor accepted it.
        public static let unsuccessfulStatus = Self(rawValue: "unsuccessfulStatus")
    }

    /// The kind of failure.
    public let code: Code
    /// A message for a person, without secrets.
    public let message: String
    /// The status of the response.
    public let status: HTTPResponse.Status
    /// The response's `Content-Type` field.
    public let contentType: String?
    /// The path to the value that can't be decoded. Empty if the failure concerns the whole content.
    public let codingPath: [any CodingKey]
    /// The beginning of the content, at most 1,024 bytes, with secrets redacted.
    public let excerpt: String
    /// The length of the content in bytes. For a streamed error page of unknown length, the number of bytes read.
    public let length: Int
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The URL that responded, with secrets redacted.
    public let url: String
    /// The decoder's error. Its text may quote the content, including secrets: print this failure instead.
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

extension DecodingFailure: DescribedError, CustomReflectable {
    /// All parts of the failure on two lines, without secrets.
    public var description: String {
        // Sanitized, so that text chosen by the server can't forge a log line.
        let type = contentType.map { PrintableText.line(String($0.unicodeScalars.prefix(100))) } ?? "no Content-Type"
        var text =
            "DecodingFailure.\(code): \(message)\n\(PrintableText.line(String("\(status)".prefix(100)))), \(type)"
        text += ", \(length) bytes (\(method) \(url))."
        if !excerpt.isEmpty { text += " Body: \(PrintableText.line(excerpt))" }
        return text
    }

    /// A mirror that shows only ``description``, so that a dump doesn't show the decoder's error either.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
