/// The facts that URLSession reports for an exchange on Apple's platforms.
struct ExchangeMetrics: Sendable {
    let timings: TransferTimings?
    let connection: HTTPConnectionInfo?
}

#if !canImport(FoundationNetworking)
internal import Foundation
internal import Security

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
#endif
