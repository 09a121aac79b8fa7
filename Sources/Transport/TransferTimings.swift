/// How long the steps of one exchange took, each measured from its start.
///
/// A step that did not happen, because a kept-alive connection was used or no TLS, lasts as long as the one before it.
public struct TransferTimings: Sendable, Hashable {
    /// Until the host's address was known.
    public var nameLookup: Duration
    /// Until the connection stood.
    public var connect: Duration
    /// Until TLS stood; zero without TLS.
    public var tls: Duration
    /// Until the first byte of the response.
    public var firstByte: Duration
    /// Until the exchange ended; for a streamed response, until its head had arrived.
    public var total: Duration
    /// Whether a kept-alive connection was used.
    public var reusedConnection: Bool

    /// Timings.
    public init(
        nameLookup: Duration,
        connect: Duration,
        tls: Duration,
        firstByte: Duration,
        total: Duration,
        reusedConnection: Bool
    ) {
        self.nameLookup = nameLookup
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.total = total
        self.reusedConnection = reusedConnection
    }
}

extension HTTPContext {
    private enum TimingsKey: HTTPContextKey { static var defaultValue: TransferTimings? { nil } }

    /// On a response: how long the steps of its exchange took, where the transport can tell.
    public var timings: TransferTimings? {
        get { self[TimingsKey.self] }
        set { self[TimingsKey.self] = newValue }
    }
}
