public import Foundation

/// Why an envelope gave no payload.
///
/// ```swift
/// do {
///     let user: User = try await api.get("/users/42")
/// } catch let error as EnvelopeError where error.code == 1005 {
///     show(error.message)
/// }
/// ```
/// Its descriptions show the request's URL and the beginning of the body with secrets redacted; ``response`` and ``body`` are
/// as they came. What stands outside and looks at statuses, such as a retry, looks at that of the ``response``.
public struct EnvelopeError: ContextualError, Sendable {
    /// What went wrong. An open set: handle the ones you know, and keep a default.
    public struct Reason: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the reason, such as `refused`.
        public let rawValue: String
        /// A reason by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the reason.
        public var description: String { rawValue }

        /// The envelope says that the call has failed.
        public static let refused = Self(rawValue: "refused")
        /// The response is something else than an envelope.
        public static let notAnEnvelope = Self(rawValue: "notAnEnvelope")
        /// The body begins like an envelope and isn't valid JSON: truncated, for instance.
        public static let malformed = Self(rawValue: "malformed")
    }

    /// What went wrong.
    public let reason: Reason
    /// The envelope's code, where there is one.
    public let code: Envelope.Code?
    /// What the server says, where it says anything.
    public let message: String?
    /// What went wrong, for a developer; without secrets.
    public let explanation: String
    /// The response as it came, but that its body is in memory: ``body``.
    public internal(set) var response: HTTPResponse
    /// The response's body as it came, so possibly with secrets.
    public let body: Data
    /// Whether ``body`` is all of it: a stream may be longer than the interceptor's limit, or break off.
    public let isBodyComplete: Bool
    /// The method of the request.
    public let method: HTTPRequest.Method?
    /// The URL that the response came from, with secrets redacted.
    public let url: String?

    /// The status of the response.
    public var status: HTTPResponse.Status { response.status }

    /// The context of the response: what is to be known about the call, such as the attempts that were made.
    public var context: HTTPContext {
        get { response.context }
        set { response.context = newValue }
    }

    /// An error about a response.
    public init(
        _ reason: Reason,
        code: Envelope.Code? = nil,
        message: String? = nil,
        explanation: String = "The envelope says that the call has failed.",
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

extension EnvelopeError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, LocalizedError {
    /// Reason, code, message, request and the beginning of the body on one line, without secrets.
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

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``. What the server wants a person to read is ``message``.
    public var errorDescription: String? { description }

    /// What ``description`` shows, part by part: a dump prints no secret either.
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
