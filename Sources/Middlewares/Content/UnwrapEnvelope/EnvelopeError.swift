public import Foundation

/// The error of a call whose response carried an envelope of failure, or carried no valid envelope.
///
/// ```swift
/// do {
///     let user: User = try await api.get("/users/42")
/// } catch let error as EnvelopeError where error.code == 1005 {
///     show(error.message)
/// }
/// ```
/// The descriptions are for developers: to show users the server's text, use ``message``. They show the request's URL and the
/// start of the body with secrets redacted; ``response`` and ``body`` are unredacted. An outer interceptor that
/// checks statuses, such as a retry, sees the status of ``response``.
public struct EnvelopeError: ContextualError, Sendable {
    /// The kind of failure. An open set: handle the reasons you know, and keep a default.
    public struct Reason: OpenSet {
        /// The name of the reason, such as `refused`.
        public let rawValue: String
        /// Creates a reason from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The envelope reports that the call failed.
        public static let refused = Self(rawValue: "refused")
        /// The response isn't an envelope.
        public static let notAnEnvelope = Self(rawValue: "notAnEnvelope")
        /// The body starts like an envelope but isn't valid JSON: it was truncated, for instance.
        public static let malformed = Self(rawValue: "malformed")
    }

    /// The kind of failure.
    public let reason: Reason
    /// The envelope's code, if there is one.
    public let code: Envelope.Code?
    /// The server's message, if there is one.
    public let message: String?
    /// A description of the failure for developers, without secrets.
    public let explanation: String
    /// The response as received, with its body in memory (see ``body``).
    public internal(set) var response: HTTPResponse
    /// The response's body as received, possibly with secrets.
    public let body: Data
    /// Whether ``body`` is the complete body. A stream can exceed the interceptor's limit or break off.
    public let isBodyComplete: Bool
    /// The method of the request.
    public let method: HTTPRequest.Method?
    /// The URL of the response, with secrets redacted.
    public let url: String?

    /// The status of ``response``.
    public var status: HTTPResponse.Status { response.status }

    /// The context of ``response``: facts about the call, such as its attempts.
    public var context: HTTPContext {
        get { response.context }
        set { response.context = newValue }
    }

    /// Creates an error about a response with this status, these fields and this body.
    public init(
        _ reason: Reason,
        code: Envelope.Code? = nil,
        message: String? = nil,
        explanation: String = "The envelope reports that the call failed.",
        status: HTTPResponse.Status = 200,
        headerFields: HTTPFields = HTTPFields(),
        body: Data = Data(),
        isBodyComplete: Bool = true,
        method: HTTPRequest.Method? = nil,
        url: URL? = nil
    ) {
        self.reason = reason
        self.code = code
        self.message = message
        self.explanation = explanation
        let body = body.startIndex == 0 ? body : Data(body)
        self.body = body
        self.response = HTTPResponse(status: status, headerFields: headerFields, body: HTTPBody(body), url: url)
        self.isBodyComplete = isBodyComplete
        self.method = method
        self.url = url.map { Redaction.standard.string(for: $0) }
    }
}

extension EnvelopeError: ResponseError {}

extension EnvelopeError: DescribedError, CustomReflectable {
    /// The reason, code, message, request and start of the body on one line, with secrets redacted.
    public var description: String {
        var text = "EnvelopeError.\(reason): \(explanation)"
        if let code { text += " Code: \(Self.shown(code.text, limit: 64))." }
        if let message { text += " Message: \"\(Self.shown(message, limit: 256))\"." }
        let request = [method.map { PrintableText.line($0.rawValue) }, url].compactMap { $0 }.joined(separator: " ")
        let status = PrintableText.line("HTTP \(status)")
        text += request.isEmpty ? " (\(status))" : " (\(request), \(status))"
        if !body.isEmpty { text += " Body: \(excerpt)" }
        return text
    }

    /// The parts of ``description``, so that `dump` prints no secret either.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "reason": reason.rawValue,
            "code": code.map { Self.shown($0.text, limit: 64) } as Any,
            "message": message.map { Self.shown($0, limit: 256) } as Any,
            "explanation": explanation,
            "status": status.code,
            "body": excerpt,
            "method": method?.rawValue as Any,
            "url": url as Any,
        ]
        return Mirror(self, children: children)
    }

    private var excerpt: String { PrintableText.line(Redaction.standard.excerpt(of: body, limit: 256)) }

    private static func shown(_ text: String, limit: Int) -> String {
        PrintableText.line(Redaction.standard.excerpt(of: Data(text.utf8), limit: limit))
    }
}
