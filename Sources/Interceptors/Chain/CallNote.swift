public import InterceptorsTransport

/// The reason for a decision of an interceptor, for what observes the chain, such as a journal.
///
/// A text alone is a note too: `request.note("The region is unknown.")`.
public struct CallNote: Sendable, Hashable, Codable {
    /// The kind of decision, such as `retry` or `cacheHit`: a short word in lower camel case that stays the same.
    public let decision: String
    /// A sentence or phrase for a person, such as `again after 2 s, because the status was 503`. Never a secret.
    public let text: String
    /// The number, given by the same observer, of another call that the decision refers to, such as the one whose response is shared.
    public let callID: Int?

    /// Creates a note.
    ///
    /// - Parameters:
    ///   - decision: the kind of decision, a short word in lower camel case.
    ///   - text: a sentence or phrase for a person, without secrets.
    ///   - callID: the number, given by the same observer, of another call that the decision refers to.
    public init(_ decision: String, _ text: String, callID: Int? = nil) {
        self.decision = decision
        self.text = text
        self.callID = callID
    }
}

extension CallNote: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Creates a note of the kind `note`.
    public init(stringLiteral text: String) { self.init("note", text) }

    /// The kind and the text, such as `retry: again after 2 s`; for a note of the kind `note`, only the text.
    public var description: String {
        let reference = callID.map { " (call \($0))" } ?? ""
        return (decision == "note" ? text : text.isEmpty ? decision : "\(decision): \(text)") + reference
    }
}

extension HTTPRequest {
    /// Tells the chain's observer, such as a journal, the reason of a decision of this interceptor. Without an observer, a note costs
    /// nothing and its text isn't made.
    ///
    /// ```swift
    /// let language: AnyInterceptor = .intercept { request, next in
    ///     if request.headers.contains(.acceptLanguage) {
    ///         request.note("The call chooses its language.")
    ///     } else {
    ///         request.headers[.acceptLanguage] = await settings.language
    ///     }
    ///     return try await next(request)
    /// }
    /// ```
    /// The note belongs to the element that the request has reached. For a decision after `next`, take
    /// ``InterceptorsTransport/HTTPContext/observedStep`` first.
    ///
    /// - Parameter note: the reason. A journal replaces secrets that it recognises; keep others out.
    public func note(_ note: @autoclosure () -> CallNote) { context.observedStep?.add(note()) }
}
