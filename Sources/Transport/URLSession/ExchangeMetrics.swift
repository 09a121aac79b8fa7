internal import Foundation

#if !canImport(FoundationNetworking)
internal import Security
#endif

/// The facts that URLSession reports for an exchange on Apple's platforms.
struct ExchangeMetrics: Sendable {
    let timings: TransferTimings?
    let connection: HTTPConnectionInfo?
}

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
extension ExchangeMetrics {
    init(_ metrics: URLSessionTaskTransactionMetrics) {
        timings = ExchangeDates(metrics).timings
        connection = HTTPConnectionInfo(
            httpVersion: metrics.networkProtocolName.map(HTTPVersion.init(protocolName:)),
            remoteAddress: metrics.remoteAddress,
            remotePort: metrics.remotePort,
            tlsVersion: metrics.negotiatedTLSProtocolVersion.flatMap(TLSVersion.init),
            cipherSuite: metrics.negotiatedTLSCipherSuite.flatMap(TLSCipherSuite.name)
        )
    }
}

extension TLSVersion {
    fileprivate init?(_ version: tls_protocol_version_t) {
        switch version {
        case .TLSv12: self = .tls12
        case .TLSv13: self = .tls13
        default: return nil
        }
    }
}

extension TLSCipherSuite {
    /// `nil` for the suites without authenticated encryption.
    fileprivate static func name(of suite: tls_ciphersuite_t) -> String? {
        switch suite {
        case .AES_128_GCM_SHA256: name(of: 0x1301)
        case .AES_256_GCM_SHA384: name(of: 0x1302)
        case .CHACHA20_POLY1305_SHA256: name(of: 0x1303)
        case .ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: name(of: 0xC02B)
        case .ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: name(of: 0xC02C)
        case .ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: name(of: 0xCCA9)
        case .ECDHE_RSA_WITH_AES_128_GCM_SHA256: name(of: 0xC02F)
        case .ECDHE_RSA_WITH_AES_256_GCM_SHA384: name(of: 0xC030)
        case .ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: name(of: 0xCCA8)
        case .RSA_WITH_AES_128_GCM_SHA256: name(of: 0x009C)
        case .RSA_WITH_AES_256_GCM_SHA384: name(of: 0x009D)
        default: nil
        }
    }
}

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
