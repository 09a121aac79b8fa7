/// Writes each exchange to a sink: an entry when a request comes by, and one when it has ended.
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
/// ## Its place
/// Innermost it reports the wire: each attempt, hop and refresh is an exchange of its own, with the fields as they are
/// sent. Outermost it reports the caller's view: one exchange a call, with the time of all attempts, and the request as
/// the caller made it, even if nothing was sent because a cache answered. Where both are wanted, use it twice, with a
/// label each. A response is logged with its own URL, after redirects that of the last hop.
///
/// ## What it promises
/// - Each `-->` is followed by exactly one `<--` of the same number, also when an interceptor inside answers by itself, when
///   the call fails or is cancelled. A cancelled call is logged as cancelled, not as failed. Of a streamed response the
///   end is that of its head.
/// - Nothing is consumed and nothing waits for a body: one that is streamed, in a file, over the limit or not UTF-8 text is
///   only summarised.
/// - What ``Redaction`` takes for a secret is not written, at no level, whether it stands in a URL, a field, a body or an
///   error.
/// - Text from the other side can't pass for an entry, nor control a terminal: control characters are escaped, and
///   all but the first line of an entry are indented.
///
/// At ``LogLevel/off`` it hands the request on, and that is all.
public struct LoggingInterceptor: Interceptor {
    private let log: ExchangeLog?

    /// A logger.
    ///
    /// - Parameters:
    ///   - level: how much is written.
    ///   - sink: what takes the entries.
    ///   - label: told in each entry, to tell several loggers apart.
    ///   - bodyLimit: the most bytes of a body that is written at ``LogLevel/body``, or for `curl`; longer ones are only
    ///     summarised. 16 KiB by default.
    ///   - prettyJSON: whether JSON is indented; its keys stay in order and its numbers as they are.
    ///   - curl: whether a command line follows each request that sends the like of it. It has the fields and the body at
    ///     every level, without their secrets.
    ///   - redaction: what is a secret.
    ///   - clock: measures how long an exchange takes.
    public init(
        _ level: LogLevel = .basic,
        to sink: LogSink = .standardError,
        label: String? = nil,
        bodyLimit: Int = 16 << 10,
        prettyJSON: Bool = true,
        curl: Bool = false,
        redaction: Redaction = .standard,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        guard level != .off else {
            log = nil
            return
        }
        let body = LoggedBody(limit: bodyLimit, isPretty: prettyJSON, redaction: redaction)
        let text = ExchangeText(level: level, label: label, curl: curl, body: body, redaction: redaction)
        log = ExchangeLog(text: text, sink: sink, clock: clock)
    }

    /// Logs the request, passes it on, and logs what came of it.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let log else { return try await next(request) }
        let number = log.nextNumber()
        if !log.begin(number, request) { await log.beginInFull(number, copy request) }
        let start = log.elapsed()
        do {
            let response = try await next(request)
            let time = log.elapsed() - start
            if !log.end(number, response, after: time) { await log.endInFull(number, response, after: time) }
            return response
        } catch {
            log.end(number, with: error, after: log.elapsed() - start)
            throw error
        }
    }
}

/// How much a ``LoggingInterceptor`` writes.
public enum LogLevel: String, Sendable, CaseIterable {
    /// Nothing.
    case off
    /// Method, URL, status, duration and sizes: a line each for request and response.
    case basic
    /// The same, and the header fields.
    case headers
    /// The same, and the bodies.
    case body
}

extension Interceptor where Self == LoggingInterceptor {
    /// Writes each exchange to a sink, without secrets: see ``LoggingInterceptor``, and its initialiser for the parameters.
    public static func logging(
        _ level: LogLevel = .basic,
        to sink: LogSink = .standardError,
        label: String? = nil,
        bodyLimit: Int = 16 << 10,
        prettyJSON: Bool = true,
        curl: Bool = false,
        redaction: Redaction = .standard,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Self {
        Self(
            level,
            to: sink,
            label: label,
            bodyLimit: bodyLimit,
            prettyJSON: prettyJSON,
            curl: curl,
            redaction: redaction,
            clock: clock
        )
    }
}
