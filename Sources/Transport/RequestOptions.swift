/// The time limits of one call. Any length is kept; `nil` means no limit.
public struct Timeouts: Sendable, Hashable {
    /// From the start of the call until the connection stands.
    public var connect: Duration?
    /// The longest silence: no byte sent or received. While a reader keeps a streamed response waiting, it doesn't count.
    public var idle: Duration?
    /// The whole call, from its start to the last byte of the response.
    public var whole: Duration?

    /// Time limits; by default a silence of 60 seconds ends the call, the connection's set-up included.
    public init(connect: Duration? = nil, idle: Duration? = .seconds(60), whole: Duration? = nil) {
        self.connect = connect
        self.idle = idle
        self.whole = whole
    }
}

/// How the content of a response reaches the caller.
public struct ResponseBodyMode: Sendable, Hashable {
    /// The most bytes of a buffered response; `nil` for a streamed one.
    public let bufferLimit: Int?

    /// In memory, before the call returns, up to a limit in bytes. Beyond it the call fails with
    /// ``TransportError/Code/bodyTooLarge``.
    public static func buffered(upTo limit: Int) -> Self { Self(bufferLimit: limit) }

    /// In memory, up to 64 MiB: what a request gets that asks for nothing else.
    public static var buffered: Self { .buffered(upTo: 64 << 20) }

    /// As a one-shot stream of chunks, which begins when the header fields have arrived.
    public static var streamed: Self { Self(bufferLimit: nil) }
}

/// How far a body has got.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes sent or received so far, before any content coding is undone where the transport can tell.
    public let completed: Int64
    /// The bytes in all, where they are known.
    public let total: Int64?

    /// Progress in bytes.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The share from 0 to 1, where the total is known.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}

extension HTTPContext {
    private enum TimeoutsKey: HTTPContextKey { static var defaultValue: Timeouts? { nil } }
    private enum ResponseBodyKey: HTTPContextKey { static var defaultValue: ResponseBodyMode { .buffered } }
    private enum SendingForbiddenKey: HTTPContextKey { static var defaultValue: String? { nil } }
    private enum UploadProgressKey: HTTPContextKey {
        static var defaultValue: (@Sendable (TransferProgress) -> Void)? { nil }
    }
    private enum DownloadProgressKey: HTTPContextKey {
        static var defaultValue: (@Sendable (TransferProgress) -> Void)? { nil }
    }

    /// On a request: its time limits, `nil` for those of the transport.
    public var timeouts: Timeouts? {
        get { self[TimeoutsKey.self] }
        set { self[TimeoutsKey.self] = newValue }
    }

    /// On a request: how the content of its response is delivered, by default buffered up to 64 MiB.
    public var responseBody: ResponseBodyMode {
        get { self[ResponseBodyKey.self] }
        set { self[ResponseBodyKey.self] = newValue }
    }

    /// On a request: why no transport may send it, in a sentence for a person; `nil` if it may be sent.
    ///
    /// An interceptor may answer such a request. ``HTTPRequest/validate()``, which every transport calls first, throws
    /// ``TransportError/Code/sendingForbidden``. An interceptor that would send something for it, as for a new token, doesn't.
    public var sendingForbidden: String? {
        get { self[SendingForbiddenKey.self] }
        set { self[SendingForbiddenKey.self] = newValue }
    }

    /// On a request: called as its body is sent, from any thread; it must return quickly.
    public var uploadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { self[UploadProgressKey.self] }
        set { self[UploadProgressKey.self] = newValue }
    }

    /// On a request: called as the response's body arrives, from any thread; it must return quickly.
    public var downloadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { self[DownloadProgressKey.self] }
        set { self[DownloadProgressKey.self] = newValue }
    }
}
