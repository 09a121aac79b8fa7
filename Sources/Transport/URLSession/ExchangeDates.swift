internal import Foundation

/// The dates that URLSession reports for an exchange on Apple's platforms.
struct ExchangeDates {
    var start: Date?
    var nameLookupEnd: Date?
    var tlsStart: Date?
    var tlsEnd: Date?
    /// When the connection was ready; with TLS, after the handshake.
    var connectEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?
    var reusedConnection = false

    /// The durations since the start; `nil` if the start is unknown.
    var timings: TransferTimings? {
        guard let start else { return nil }
        // The dates come from the wall clock, which may be set meanwhile, so negative durations are cut to zero.
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
        // The dates of a reused connection may belong to the exchange that opened it.
        guard !reusedConnection else { return }
        nameLookupEnd = metrics.domainLookupEndDate
        tlsStart = metrics.secureConnectionStartDate
        tlsEnd = metrics.secureConnectionEndDate
        connectEnd = metrics.connectEndDate
    }
}
#endif
