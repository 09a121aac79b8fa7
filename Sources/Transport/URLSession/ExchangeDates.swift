internal import Foundation

/// When the steps of an exchange began and ended, as URLSession tells it on Apple's platforms.
struct ExchangeDates {
    var start: Date?
    var nameLookupEnd: Date?
    var tlsStart: Date?
    var tlsEnd: Date?
    /// When the connection was ready, which with TLS is after its handshake.
    var connectEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?
    var reusedConnection = false

    /// The same as durations, each from the start; `nil` if that isn't known.
    var timings: TransferTimings? {
        guard let start else { return nil }
        // Dates are those of a wall clock, which may be set while they are taken.
        func since(_ date: Date?) -> Duration? {
            date.map { .seconds(max(0, $0.timeIntervalSince(start))) }
        }
        let nameLookup = since(nameLookupEnd) ?? .zero
        let connect = since(tlsStart) ?? since(connectEnd) ?? nameLookup
        let tls = since(tlsEnd)
        let firstByte = since(responseStart) ?? tls ?? connect
        return TransferTimings(
            nameLookup: nameLookup,
            connect: connect,
            tls: tls ?? .zero,
            firstByte: firstByte,
            total: since(responseEnd) ?? firstByte,
            reusedConnection: reusedConnection
        )
    }
}

#if !canImport(FoundationNetworking)
extension ExchangeDates {
    init(_ metrics: URLSessionTaskTransactionMetrics) {
        start = metrics.fetchStartDate
        responseStart = metrics.responseStartDate
        responseEnd = metrics.responseEndDate
        reusedConnection = metrics.isReusedConnection
        // The dates of a reused connection may be those of the exchange that made it.
        guard !reusedConnection else { return }
        nameLookupEnd = metrics.domainLookupEndDate
        tlsStart = metrics.secureConnectionStartDate
        tlsEnd = metrics.secureConnectionEndDate
        connectEnd = metrics.connectEndDate
    }
}
#endif
