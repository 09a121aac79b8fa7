/// The implementation of `.logging(…)`, documented there.
struct LoggingInterceptor: PlacedInterceptor {
    let log: ExchangeLog?
    /// Hides values in the fields that the log shows; `nil` if it shows no fields.
    let redaction: Redaction?

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let log else { return try await next(request) }
        let number = log.nextNumber()
        await log.begin(number, copy request)
        let start = log.elapsed()
        do {
            let response = try await next(request)
            let time = log.elapsed() - start
            await log.end(number, response, after: time)
            return response
        } catch {
            log.end(number, with: error, after: log.elapsed() - start)
            throw error
        }
    }

    var placement: [ChainRole] { log == nil ? [] : [.logs.with { $0.redaction = redaction }] }
}

/// The amount of detail that `logging` logs.
public enum LogLevel: String, Sendable, CaseIterable {
    /// Nothing.
    case off
    /// Method, URL, status, duration and sizes: one line for the request and one for the end of the exchange.
    case basic
    /// The information of ``LogLevel/basic``, and the header fields.
    case headers
    /// The information of ``LogLevel/headers``, and the bodies.
    case body
}

extension Interceptor where Self == AnyInterceptor {
    /// Logs each exchange to a sink: one entry for the request, and one for the end of the exchange.
    ///
    /// ```swift
    /// let interceptors: [any Interceptor] = [
    ///     .retryOnUnauthorized(tokens),
    ///     .bearerAuth(tokens),
    ///     .logging(.headers),                             // to standard error
    ///     // or .logging(.body, to: LogSink { print($0) }, curl: true)
    /// ]
    /// ```
    /// ```text
    /// --> #7 GET https://api.example.com/users/42?page=2&token=<redacted>
    ///     Accept: application/json
    ///     Authorization: <redacted>
    /// <-- #7 200 OK https://api.example.com/users/42?page=2&token=<redacted> (34 ms, 512 bytes)
    ///     Content-Type: application/json
    /// ```
    /// ## Order
    /// - Innermost, the log shows the wire: each attempt, redirect and refresh is a separate exchange, with the fields as sent.
    /// - Outermost, the log shows the caller's view: one exchange per call, with the time of all attempts. The request is the
    ///   caller's, even if a cache answered and nothing was sent.
    /// - For both views, use two loggers with different labels.
    ///
    /// Each response is logged with its own URL, which differs from the request's after a redirect.
    ///
    /// ## Behaviour
    /// - Each `-->` is followed by exactly one `<--` with the same number, even if the call fails, is cancelled or never
    ///   reaches the network. A cancelled call is logged as cancelled, not as failed. For a streamed response, the `<--` is
    ///   written when its head arrives, so the log doesn't show whether the content came. `Journal` and `metrics` do.
    /// - Logging never consumes a body or waits for one. A body that is streamed, in a file, over the limit or not UTF-8 text
    ///   is only summarised.
    /// - No level logs a secret that `Redaction` recognises, whether it occurs in a URL, a field, a body or an error.
    /// - Text from a server can't imitate an entry or control a terminal: control characters are escaped, and all lines of an
    ///   entry except the first are indented.
    ///
    /// At ``LogLevel/off`` the interceptor only passes requests on.
    ///
    /// - Parameters:
    ///   - level: the amount of detail, ``LogLevel/basic`` by default.
    ///   - sink: the destination of the entries, standard error by default.
    ///   - label: a text in each entry that distinguishes several loggers.
    ///   - bodyLimit: the maximum size of a body, in bytes, to log at ``LogLevel/body`` or with `curl`; longer bodies are only
    ///     summarised. 16 KiB by default.
    ///   - prettyJSON: whether to indent JSON, which keeps the order of keys and the spelling of numbers; by default `true`.
    ///   - curl: whether to add a curl command that sends an equivalent request. At every level, the command includes the
    ///     fields and the body, with secrets redacted.
    ///   - redaction: decides which values are secrets.
    ///   - time: measures the durations.
    public static func logging(
        _ level: LogLevel = .basic,
        to sink: LogSink = .standardError,
        label: String? = nil,
        bodyLimit: Int = 16 << 10,
        prettyJSON: Bool = true,
        curl: Bool = false,
        redaction: Redaction = .standard,
        time: TimeSource = .system
    ) -> Self {
        let body = LoggedBody(limit: bodyLimit, isPretty: prettyJSON, redaction: redaction)
        let text = LogEntryText(level: level, label: label, curl: curl, body: body, redaction: redaction)
        let log = level == .off ? nil : ExchangeLog(text: text, sink: sink, clock: time.clock)
        return Self(LoggingInterceptor(log: log, redaction: level == .basic && !curl ? nil : redaction))
    }

    /// Unavailable: the level has no label.
    @available(*, unavailable, message: "Write `.logging(.headers)`; the levels are off, basic, headers and body.")
    public static func logging(level: LogLevel) -> Self { logging(level) }
}
