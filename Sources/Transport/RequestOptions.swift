/// The time limits of one call. `nil` means no limit; any duration is accepted.
public struct Timeouts: Sendable, Hashable {
    /// From the start of the call until the connection is established. The wait for one of `CurlTransport`'s own connections
    /// (`connectionsPerHost`) doesn't count.
    public var connect: Duration?
    /// The longest time without a byte sent or received, and the longest wait for one of `CurlTransport`'s own connections. Time in
    /// which a reader holds up a streamed response doesn't count.
    public var idle: Duration?
    /// The whole call, from its start to the last byte of the response.
    public var total: Duration?
    /// The part of ``total`` that passed before a transport gets the request, such as the time of reading its body. Apart from
    /// ``total``, so that an error names the limit that the caller chose.
    package var spent: Duration = .zero

    /// Creates time limits. By default a call ends after 60 seconds of silence, connection setup included.
    public init(connect: Duration? = nil, idle: Duration? = .seconds(60), total: Duration? = nil) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}

/// The way a response's content reaches the caller.
public struct ResponseBodyMode: Sendable, Hashable {
    /// The maximum size of a buffered response in bytes; `nil` for a streamed response.
    public let bufferLimit: Int?

    /// Reads the content into memory before the call returns, up to a limit in bytes. Beyond the limit the call fails with
    /// ``HTTPErrorCode/bodyTooLarge``.
    public static func buffered(upTo limit: Int) -> Self { Self(bufferLimit: limit) }

    /// Reads the content into memory, up to 64 MiB. This is the default.
    public static var buffered: Self { .buffered(upTo: 64 << 20) }

    /// Returns as soon as the header fields have arrived, with the content as a one-shot stream of chunks.
    public static var streamed: Self { Self(bufferLimit: nil) }
}

/// The progress of sending or receiving a body.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes sent or received so far. If the transport can tell, content codings count in encoded form.
    public let completed: Int64
    /// The total number of bytes, if known.
    public let total: Int64?

    /// Creates a progress in bytes.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The completed fraction from 0 to 1, or `nil` if the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}

/// The closures that a transport calls as bodies travel.
private struct ProgressReports: Sendable {
    var upload: (@Sendable (TransferProgress) -> Void)?
    var taken: (@Sendable (Int64) -> Void)?
    var download: (@Sendable (TransferProgress) -> Void)?
}

/// Whether a request may be sent again, and redirects are followed.
private struct Repetition: Sendable {
    var followsRedirects = false
    var isIdempotent: Bool?
}

extension HTTPContext {
    private enum TimeoutsKey: HTTPContextKey { static var defaultValue: Timeouts? { nil } }
    private enum ResponseBodyKey: HTTPContextKey { static var defaultValue: ResponseBodyMode { .buffered } }
    private enum SendingForbiddenKey: HTTPContextKey { static var defaultValue: String? { nil } }
    private enum RepetitionKey: HTTPContextKey { static var defaultValue: Repetition { Repetition() } }
    private enum ReportsKey: HTTPContextKey { static var defaultValue: ProgressReports { ProgressReports() } }

    /// On a request: its time limits. `nil` to use the transport's.
    public var timeouts: Timeouts? {
        get { self[TimeoutsKey.self] }
        set { self[TimeoutsKey.self] = newValue }
    }

    /// On a request: the way the response's content is delivered. By default buffered, up to 64 MiB.
    public var responseBody: ResponseBodyMode {
        get { self[ResponseBodyKey.self] }
        set { self[ResponseBodyKey.self] = newValue }
    }

    /// On a request: the reason why no transport may send it, as a sentence for a person. `nil` if it may be sent.
    ///
    /// An interceptor may still answer such a request. ``HTTPRequest/validate()``, which every transport calls first, throws
    /// ``HTTPErrorCode/sendingForbidden``. Interceptors send no requests on its behalf either, such as one for a new
    /// token.
    public var sendingForbidden: String? {
        get { self[SendingForbiddenKey.self] }
        set { self[SendingForbiddenKey.self] = newValue }
    }

    /// On a request: whether an interceptor follows redirects, so that nobody reads the content of one (RFC 9110 §15.4).
    ///
    /// A transport that fails to receive the content of such a redirect, or waits for more of it for a second, returns the
    /// response. Reading its body throws the failure.
    package var followsRedirects: Bool {
        get { self[RepetitionKey.self].followsRedirects }
        set { self[RepetitionKey.self].followsRedirects = newValue }
    }

    /// On a request: whether the caller says that it may be sent several times; `nil` if the caller says neither. `InterceptorsMiddlewares`
    /// documents it as `isIdempotent`.
    package var declaredIdempotency: Bool? {
        get { self[RepetitionKey.self].isIdempotent }
        set { self[RepetitionKey.self].isIdempotent = newValue }
    }

    /// On a request: called as its body is sent, from any thread. The closure must return quickly.
    public var uploadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { self[ReportsKey.self].upload }
        set { self[ReportsKey.self].upload = newValue }
    }

    /// On a request: called with the number of bytes that the transport has taken from the body, before they can reach the server.
    ///
    /// ``uploadProgress`` may be late. A transport that can't report each byte in time never calls this closure.
    package var takenBytes: (@Sendable (Int64) -> Void)? {
        get { self[ReportsKey.self].taken }
        set { self[ReportsKey.self].taken = newValue }
    }

    /// On a request: called as the response's body arrives, from any thread. The closure must return quickly.
    public var downloadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { self[ReportsKey.self].download }
        set { self[ReportsKey.self].download = newValue }
    }
}
