public import Foundation

/// An error of a call. Errors of this package conform, except `CancellationError`; errors of the program's own closures and
/// encoders reach the caller unchanged.
///
/// ## Handle one
/// ```swift
/// do {
///     try await api.delete("/users/42")
/// } catch let error as any HTTPError {
///     show(error.localizedDescription)            // for people: "The server can't be reached."
///     logger.warning(error.description)           // for developers: cause, remedy, request, attempts
///     latency.record(.zero, labels: ["\(error.code)"])     // for metrics: "cannotConnect"
/// }
/// ```
/// One failure has one ``code``, whatever the type of its error: `catch let error as any HTTPError where error.code == .timedOut`.
///
/// Every `Error` has the properties that apps usually check: ``Swift/Error/isOffline``, ``Swift/Error/isTimeout``,
/// ``Swift/Error/isCancelled`` and ``Swift/Error/isServerFault``. `Interceptors` adds `isUnauthorized` and `isDisconnection`.
///
/// ## Write one
/// ```swift
/// struct QuotaError: HTTPError {
///     let code = HTTPErrorCode(rawValue: "quotaUsedUp")
///     let message = "The quota of today is used up. Ask the operator for more."
///     let request: HTTPRequest.Summary?
///     let response: HTTPResponse? = nil
///     let underlying: (any Error)? = nil
///     let sentNothing = true                      // thrown before `next` was called: even a POST may be sent again
///     var context = HTTPContext()
/// }
/// ```
/// The three optionals have no default, because the compiler would take a `let response: HTTPResponse` for another property, and
/// nobody would read it.
///
/// Interceptors treat such an error like the package's own. `retry` may repeat a POST that certainly wasn't sent. An error with
/// a ``response`` counts by its status: `retryOnUnauthorized` refreshes the token for a 401, `circuitBreaker` counts a 503.
/// An error also counts by its ``code``: `retry` repeats a request after an author's ``HTTPErrorCode/connectionLost`` too. And it
/// counts by the error that caused it, its ``underlying``.
///
/// The descriptions, and the output of `dump`, show only what this protocol requires. Keep secrets out of ``message`` and
/// ``code``; the other parts are redacted.
public protocol HTTPError:
    LocalizedError, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, Sendable
{
    /// The cause and the remedy, in sentences for a developer, without secrets.
    var message: String { get }
    /// The kind of failure, in one word. Its name also serves metrics and logs.
    var code: HTTPErrorCode { get }
    /// The method and the redacted URL of the request, if known.
    var request: HTTPRequest.Summary? { get }
    /// The response that the error was made from, if any. Interceptors take the response of ``underlying`` for the error's, too.
    ///
    /// Hold the response with its body in memory, or discard the body, because a streamed body keeps a connection. `retry`
    /// discards the body before the next attempt. The fields and the body may hold secrets.
    var response: HTTPResponse? { get }
    /// The error that caused this one: the same failure, as a lower layer reported it; `nil` if there is none.
    ///
    /// Its code, its response and its own cause count as this error's. At most 16 levels of causes are looked at.
    var underlying: (any Error)? { get }
    /// Whether it is certain that no server has seen any part of the request; `false` by default.
    ///
    /// The value is about the last attempt. `retry` looks at all attempts in the ``context`` before it repeats a request that
    /// isn't idempotent.
    var sentNothing: Bool { get }
    /// Details about the failed call, such as its attempts and redirects. Interceptors on the way to the caller add them.
    var context: HTTPContext { get set }
    /// One line for a developer, without secrets: the type, the ``code``, the ``message``, ``request``, the attempts and redirects of the call,
    /// and the cause. An implementation is provided.
    var description: String { get }
    /// A short sentence for people, without code or URL, such as "The server can't be reached." `localizedDescription` shows it.
    /// An implementation is provided, with English sentences.
    var errorDescription: String? { get }
}

extension HTTPError {
    /// `false`: the server may have seen the request.
    public var sentNothing: Bool { false }

    /// One line for a developer, made from the other properties.
    public var description: String { line() }

    /// Equal to `description`.
    public var debugDescription: String { description }

    /// A mirror of `description`, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// A short English sentence, by the status of the response or by the cause.
    public var errorDescription: String? { ErrorSentence.about(self) }

    /// `nil`, because `errorDescription` is for people and `description` says the rest.
    public var failureReason: String? { nil }

    /// `nil`, because `errorDescription` is for people and `description` says the rest.
    public var recoverySuggestion: String? { nil }

    /// `nil`, because there is no help book.
    public var helpAnchor: String? { nil }
}

extension HTTPError {
    /// The text of `description`.
    ///
    /// - Parameters:
    ///   - opening: the beginning; by default the code name and the message.
    ///   - detail: a word to put after the request, such as the status.
    package func line(_ opening: String? = nil, _ detail: String? = nil) -> String {
        var text = opening ?? "\(qualifiedCode): \(message)"
        let about = [request?.description, detail].compactMap { $0 }.joined(separator: ", ")
        if !about.isEmpty { text += " (\(about))" }
        for note in context.notes { text += " " + note }
        guard let underlying else { return text }
        // An error of a different kind, such as a `URLError`, may quote the whole URL.
        return text + " Cause: " + (CauseDepth.descend { ErrorText.line(underlying) } ?? "…")
    }

    /// The type and the code, such as `TransportError.timedOut`.
    package var qualifiedCode: String { "\(Self.self).\(code)" }

    /// The ``underlying`` error, unless it is about another request, whose code and response say nothing about this one.
    package var cause: (any Error)? { code == .bodySourceFailed ? nil : underlying }

    /// The response of the ``cause``, if any.
    package var responseOfCause: HTTPResponse? {
        guard let cause = cause as? any HTTPError else { return nil }
        return CauseDepth.descend { cause.response } ?? nil
    }

    /// The sentence for people if the error's code has no sentence.
    package var generalSentence: String { ErrorSentence.about(self) }
}
