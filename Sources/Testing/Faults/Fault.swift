/// A failure that `faults` injects, for tests and for a debug menu.
///
/// ```swift
/// let faults: [Fault] = [
///     .latency(.milliseconds(200) ... .seconds(3)),                       // each request waits
///     .status(503).percent(20),                                           // one request in five
///     .reset.for(.post, "/orders/**"),                                    // these requests only
///     .truncation.for(nil, "https://images.example.com/**").times(2),     // the first two of these
/// ]
/// ```
/// Faults look like those of a real network to the rest of the chain: the same statuses, the same error codes, and streams that
/// end with an error.
public struct Fault: Sendable {
    enum Kind: Sendable {
        case latency(ClosedRange<Duration>)
        case answer(StubAnswer)
        case failure(HTTPErrorCode)
        case reset
        case timeout
        case truncation
    }

    let kind: Kind
    /// The share of the matching requests, from 0 to 100.
    private(set) var percent = 100.0
    /// The maximum number of requests.
    private(set) var limit = Int.max
    /// The requests that the fault is for; `nil` for all.
    private(set) var scope: StubScope?

    private init(_ kind: Kind) { self.kind = kind }
}

/// Failures.
extension Fault {
    /// A wait before the request is sent. The waits of several faults add up, and other faults follow them.
    ///
    /// The wait counts towards the request's time limits (`HTTPContext.timeouts`). If the wait is longer than `idle` or `total`,
    /// the call fails at that limit with `HTTPErrorCode.timedOut`. Otherwise the transport gets what the wait left of `total`.
    /// For a request without `timeouts`, the wait has no limit and shortens none, because the transport's own limits begin later.
    public static func latency(_ duration: Duration) -> Self { latency(duration...duration) }

    /// A random wait before the request is sent.
    public static func latency(_ range: ClosedRange<Duration>) -> Self {
        Self(.latency(range.clamped(to: .zero...Stopwatch.farthest)))
    }

    /// An answer instead of the server's. The request isn't sent.
    ///
    /// ```swift
    /// let loginPage = #"<form action="/login"><input name="room"></form>"#
    /// let captivePortal: Fault = .answer(.text(loginPage, headers: [.contentType: "text/html"]))
    /// ```
    public static func answer(_ answer: StubAnswer) -> Self { Self(.answer(answer)) }

    /// A response with this status and without content. The request isn't sent.
    ///
    /// A 401 has the challenge `Bearer` in `WWW-Authenticate` (RFC 9110 §11.6.1): `.status(401).times(1)` rejects a token once.
    ///
    /// - Precondition: the status isn't 1xx, because a transport returns only final responses (RFC 9110 §15.2).
    public static func status(_ status: HTTPResponse.Status) -> Self {
        precondition(
            status.kind != .informational,
            "A fault's response is a final one: choose a status from 200, not \(status.code)."
        )
        // RFC 9110 §8.6: a 204 has no Content-Length, and that of a 304 is the length of another response's content.
        var fields: HTTPFields = status == 204 || status == 304 ? [:] : [.contentLength: "0"]
        if status == 401 { fields[.wwwAuthenticate] = #"Bearer error="invalid_token""# }
        return answer(.status(status, headers: fields))
    }

    /// An error with this code, such as `.offline` or `.cannotConnect`. The request isn't sent.
    ///
    /// The chain knows only the code. With `.tlsFailed`, for example, the request counts as perhaps sent: a one-shot body is
    /// used up, and `retry` doesn't repeat a POST.
    public static func failure(_ code: HTTPErrorCode) -> Self { Self(.failure(code)) }

    /// The request is sent, its response is lost, and the call fails with `HTTPErrorCode.connectionLost`. The server may
    /// have acted on the request. The response's content isn't received.
    public static let reset = Self(.reset)

    /// The request is sent, its response is lost, and the call fails at the request's time limit with `HTTPErrorCode.timedOut`.
    /// For a request without `HTTPContext.timeouts`, the limit is the usual 60 seconds of silence.
    public static let timeout = Self(.timeout)

    /// The content ends too soon, with `HTTPErrorCode.truncated`. A buffered response fails with this error; a streamed one
    /// ends with this error after a random part of its content, or of its first chunk if the length is unknown.
    ///
    /// A response without content stays as it is. A redirect that `followRedirects` follows is still followed, because its
    /// content isn't read.
    public static let truncation = Self(.truncation)
}

/// How often, and for which requests.
extension Fault {
    /// The same fault for a share of its requests, chosen at random.
    ///
    /// - Parameter percent: the share, from 0 to 100; other numbers count as the nearer of the two.
    public func percent(_ percent: Double) -> Self {
        var fault = self
        fault.percent = percent > 0 ? min(percent, 100) : 0
        return fault
    }

    /// The same fault for this many requests, in the order of their arrival; all later ones pass.
    ///
    /// A request counts when the fault is chosen for it, even if its task is then cancelled or its response has no content to
    /// truncate.
    public func times(_ count: Int) -> Self {
        var fault = self
        fault.limit = max(0, count)
        return fault
    }

    /// The same fault for the requests with a given method whose URL matches a pattern.
    ///
    /// - Parameters:
    ///   - method: the method, or `nil` for any.
    ///   - pattern: a path such as `/orders/**` or a URL such as `https://*.example.com/**`, in the syntax of
    ///     `StubTransport`.
    public func `for`(_ method: HTTPRequest.Method?, _ pattern: String) -> Self {
        var fault = self
        fault.scope = StubScope(method, pattern)
        return fault
    }
}
