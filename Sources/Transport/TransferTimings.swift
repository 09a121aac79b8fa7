/// The durations of an exchange's steps, each measured from the start of the exchange.
///
/// A step that a kept-alive connection skips lasts as long as the step before it; a skipped TLS handshake lasts zero.
public struct TransferTimings: Sendable, Hashable, Codable {
    /// Until the host's address was found.
    public var nameLookup: Duration
    /// Until the connection was established.
    public var connect: Duration
    /// Until the TLS handshake was complete. Zero without a handshake.
    public var tls: Duration
    /// Until the first byte of the response arrived.
    public var firstByte: Duration
    /// Until the exchange ended. For a streamed response, until its head arrived.
    public var total: Duration
    /// Whether the exchange used a kept-alive connection.
    public var reusedConnection: Bool

    /// Creates timings.
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
