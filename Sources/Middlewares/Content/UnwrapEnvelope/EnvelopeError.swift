public import Foundation

/// The error of a call whose response carried an envelope of failure, or carried no valid envelope.
///
/// ```swift
/// do {
///     let user: User = try await api.get("/users/42")
/// } catch let error as EnvelopeError where error.serverCode == 1005 {
///     show(error.serverMessage)
/// }
/// ```
/// The descriptions are for developers: to show users the server's text, use ``serverMessage``. They show the request's URL and the
/// start of the body with secrets redacted; ``response`` and ``body`` are unredacted. An outer interceptor that
/// checks statuses, such as a retry, sees the status of ``response``.
public struct EnvelopeError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// The envelope's code, if there is one.
    public let serverCode: Envelope.Code?
    /// The server's message, if there is one.
    public let serverMessage: String?
    /// The cause, for developers, without secrets.
    public let message: String
    private var answer: HTTPResponse
    /// The response's body as received, possibly with secrets.
    public let body: Data
    /// The method of the request, and the redacted URL of the response, if known.
    public let request: HTTPRequest.Summary?

    /// The response as received, never `nil`, with its body in memory (see ``body``).
    public var response: HTTPResponse? { answer }

    /// On a cache's own 504: the error that the request to the server failed with.
    public var underlying: (any Error)? { answer.context.underlyingError }

    /// The status of ``response``.
    public var status: HTTPResponse.Status { answer.status }

    /// The header fields of ``response``.
    public var headers: HTTPFields { answer.headers }

    /// The context of ``response``: facts about the call, such as its attempts.
    public var context: HTTPContext {
        get { answer.context }
        set { answer.context = newValue }
    }

    /// Creates an error about a response with this status, these fields and this body.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - serverCode: the envelope's code, if any.
    ///   - serverMessage: the server's text, if any.
    ///   - message: a sentence for a developer, without secrets.
    ///   - status: the response's status.
    ///   - headers: the response's fields.
    ///   - body: the response's body.
    ///   - method: the request's method.
    ///   - url: the request's URL; only its redacted form is kept.
    public init(
        _ code: HTTPErrorCode,
        serverCode: Envelope.Code? = nil,
        serverMessage: String? = nil,
        message: String = "The envelope reports that the call failed.",
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = HTTPFields(),
        body: Data = Data(),
        method: HTTPRequest.Method = .get,
        url: URL? = nil
    ) {
        self.code = code
        self.serverCode = serverCode
        self.serverMessage = serverMessage
        self.message = message
        let body = body.startIndex == 0 ? body : Data(body)
        self.body = body
        answer = HTTPResponse(status: status, headers: headers, body: HTTPBody(body), url: url)
        request = url.map { HTTPRequest.Summary(method: method, url: $0) }
    }
}

extension HTTPErrorCode {
    /// `EnvelopeError`: the envelope reports that the call failed.
    public static let envelopeFailure = Self(rawValue: "envelopeFailure")
    /// `EnvelopeError`: the response isn't an envelope.
    public static let notAnEnvelope = Self(rawValue: "notAnEnvelope")
}

extension EnvelopeError {
    /// A short English sentence for people. Doesn't quote ``serverMessage``, which may not be meant for users.
    public var errorDescription: String? {
        code == .envelopeFailure || status.kind != .successful
            ? generalSentence : "The server's response can't be read."
    }

    /// The reason, code, message, request and start of the body on one line, with secrets redacted.
    public var description: String {
        var text = "\(qualifiedCode): \(message)"
        if let serverCode { text += " Code: \(Self.shown(serverCode.text, limit: 64))." }
        if let serverMessage { text += " Message: \"\(Self.shown(serverMessage, limit: 256))\"." }
        text = line(text, PrintableText.line("HTTP \(status)"))
        return body.isEmpty ? text : text + " Body: \(excerpt)"
    }

    private var excerpt: String {
        let type = answer.headers[.contentType]
        return PrintableText.line(Redaction.standard.excerpt(of: body, type: type, limit: 256))
    }

    private static func shown(_ text: String, limit: Int) -> String {
        PrintableText.line(Redaction.standard.text(text, limit: limit))
    }
}
