public import Foundation

/// Thrown when the response to a typed call can't become a value: it can't be decoded, or its status isn't a success and no
/// interceptor checked it. ``InterceptorsTransport/HTTPError/decode(_:with:)`` throws it, too.
///
/// ```text
/// ResponseDecodingError.undecodable: User can't be decoded at friends[3].name: expected String, but found a number. 200 OK,
/// application/json, 5120 bytes (GET https://api.example.com/v1/users/42). Body: {"id":42,"friends":[{"na…
/// ```
/// The printed text is bounded and free of secrets: values under sensitive names are redacted. If the content has any, the
/// decoder's own message is left out, because it might quote them. ``response`` and ``body`` are unredacted.
public struct ResponseDecodingError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for a person, without secrets.
    public let message: String
    private var answer: HTTPResponse
    /// The content of the response, up to 64 KiB, possibly with secrets.
    public let body: Data
    /// Whether ``body`` is the complete content. `false` if the content was longer, or couldn't be read to its end.
    public let isBodyComplete: Bool
    /// The path to the value that can't be decoded. Empty if the failure concerns the whole content.
    public let codingPath: [any CodingKey]
    /// The length of the content in bytes. For a streamed error page of unknown length, the number of bytes read.
    public let length: Int
    /// The method of the request, and the redacted URL that responded.
    public let request: HTTPRequest.Summary?
    private let decoderError: (any Error)?

    static let bodyLimit = 64 << 10

    init(
        _ code: HTTPErrorCode,
        _ message: String,
        response: HTTPResponse,
        body: (data: Data, isComplete: Bool),
        request: HTTPRequest.Summary?,
        codingPath: [any CodingKey] = [],
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        let kept = HTTPBody.beginning(of: body.data, upTo: Self.bodyLimit)
        self.body = kept.data
        self.isBodyComplete = kept.isComplete && body.isComplete
        self.length = max(body.data.count, response.body.length.map { Int(clamping: $0) } ?? 0)
        var answer = response
        answer.body = HTTPBody(kept.data)
        self.answer = answer
        self.codingPath = codingPath
        self.request = request
        decoderError = underlying
    }

    /// The error to throw for the error of a decoder.
    ///
    /// - Parameters:
    ///   - part: the part of the response that can't be decoded, such as `line 12`; `nil` for all of it.
    ///   - decoder: `nil` for a closure that decodes.
    static func undecodable(
        _ type: Any.Type,
        part: String? = nil,
        from body: Data,
        of response: HTTPResponse,
        _ request: HTTPRequest.Summary?,
        _ error: any Error,
        by decoder: (any BodyDecoder)?
    ) -> any Error {
        if error is CancellationError { return error }
        let reason = DecodingReason(error, body: body, isJSON: decoder is JSONDecoder)
        let place = (part.map { " in \($0)" } ?? "") + reason.place
        return Self(
            .undecodable,
            PrintableText.line("\(type) can't be decoded\(place): \(reason.text)"),
            response: response,
            body: (body, true),
            request: request,
            codingPath: reason.path,
            underlying: error
        )
    }
}

extension HTTPErrorCode {
    /// `ResponseDecodingError`: the response has no content, and the type can't represent an absent value.
    public static let emptyBody = Self(rawValue: "emptyBody")
    /// `ResponseDecodingError`: the error kept only the beginning of the body, because the body is longer than the limit, is a stream, or
    /// couldn't be read to its end.
    public static let incompleteBody = Self(rawValue: "incompleteBody")
    /// `ResponseDecodingError`: the content doesn't match the type, or isn't in the decoder's format.
    public static let undecodable = Self(rawValue: "undecodable")
    /// `StatusError`, `ResponseDecodingError`, `TransferError`: the response's status isn't accepted: by `validateStatus`, by a download or
    /// an upload, or, without a check, by a typed call. Or it has no content for a download that resumes, or isn't a success of a
    /// background transfer.
    public static let unacceptedStatus = Self(rawValue: "unacceptedStatus")
    /// `ResponseDecodingError`: the response to a call for a stream has another media type.
    public static let unexpectedMediaType = Self(rawValue: "unexpectedMediaType")
}

extension ResponseDecodingError {
    static func message(for response: HTTPResponse, from url: URL) -> String {
        let status = PrintableText.line(String("\(response.status)".prefix(100)))
        if response.context.isMadeLocally {
            return "\(status): the server could not be asked, and nothing stored may be used."
        }
        let text = response.unfollowedRedirect(from: url)
        return text.map { "The server answered \(status), which \($0)" }
            ?? "The server answered \(status), and no interceptor checked the status. Add .validateStatus() to the chain to get a"
            + " StatusError, or call send(_:) to get every response as it is."
    }

    /// The decoder's error, whose text may quote the content, including secrets: print this failure instead. On a cache's own
    /// 504, the error that the request to the server failed with.
    public var underlying: (any Error)? { decoderError ?? answer.context.underlyingError }

    /// The response, never `nil`, with its body in memory, up to 64 KiB (see ``body``).
    public var response: HTTPResponse? { answer.with(isBodyComplete: isBodyComplete) }

    /// The status of the response.
    public var status: HTTPResponse.Status { answer.status }

    /// The header fields of ``response``.
    public var headers: HTTPFields { answer.headers }

    /// The response's `Content-Type` field.
    public var contentType: String? { answer.headers[.contentType] }

    /// The beginning of the content, at most 1,024 bytes, by `Redaction.excerpt(of:type:limit:)`.
    public var excerpt: String {
        Redaction.standard.excerpt(of: body, type: contentType, isComplete: isBodyComplete)
    }

    /// The context of ``response``: facts about the call, such as its attempts.
    public var context: HTTPContext {
        get { answer.context }
        set { answer.context = newValue }
    }

    /// A short English sentence for people.
    public var errorDescription: String? {
        status.kind == .successful ? "The server's response can't be read." : generalSentence
    }

    /// All parts of the failure on one line, without secrets.
    public var description: String {
        // Sanitized, so that text chosen by the server can't forge a log line.
        let type = contentType.map { PrintableText.line(String($0.unicodeScalars.prefix(100))) } ?? "no Content-Type"
        var text =
            (["\(qualifiedCode): \(message)"] + context.notes).joined(separator: " ")
            + " \(PrintableText.line(String("\(status)".prefix(100)))), \(type), \(length) bytes"
        if let request { text += " (\(request))." }
        if !excerpt.isEmpty { text += " Body: \(PrintableText.line(excerpt))" }
        return text
    }
}
