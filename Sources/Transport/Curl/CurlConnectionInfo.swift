#if os(Linux)
internal import CInterceptorsCurl

extension HTTPConnectionInfo {
    /// The connection of a transfer whose head has arrived. An IPv4 address fits into a `String` without an allocation.
    init(_ easy: EasyHandle, for request: HTTPRequest) {
        let tls = CurlTLS.parameters(of: easy, for: request)
        self.init(
            httpVersion: HTTPVersion(curl: easy.long(CCURLINFO_HTTP_VERSION)),
            remoteAddress: easy.text(CCURLINFO_PRIMARY_IP),
            remotePort: easy.long(CCURLINFO_PRIMARY_PORT),
            tlsVersion: tls?.version,
            cipherSuite: tls?.cipherSuite
        )
    }
}

extension HTTPVersion {
    fileprivate init?(curl number: Int) {
        switch ccurl_value(UInt32(truncatingIfNeeded: number)) {
        case CCURL_HTTP_VERSION_1_0: self = .http10
        case CCURL_HTTP_VERSION_1_1: self = .http11
        case CCURL_HTTP_VERSION_2_0: self = .http2
        case CCURL_HTTP_VERSION_3: self = .http3
        default: return nil
        }
    }
}
#endif
