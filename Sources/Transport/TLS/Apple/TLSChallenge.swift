#if canImport(Security)
internal import Foundation
internal import Security

/// What URLSession's delegate answers to a server that proves who it is, or asks who the client is.
struct TLSChallengeAnswer {
    let disposition: URLSession.AuthChallengeDisposition
    let credential: URLCredential?
    /// Why the server was refused: the task's own error then says no more than that it was cancelled.
    let failure: TransportError?

    private init(
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential? = nil,
        failure: TransportError? = nil
    ) {
        self.disposition = disposition
        self.credential = credential
        self.failure = failure
    }

    /// Answers a challenge as the settings say. Passwords are none of theirs.
    init(to challenge: URLAuthenticationChallenge, _ tls: TLSConfiguration) {
        let space = challenge.protectionSpace
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust:
            // Left to the system where nothing was asked for.
            guard !tls.isPlain, let trust = space.serverTrust else {
                self.init(.performDefaultHandling)
                return
            }
            if let failure = tls.judge(trust, host: space.host) {
                self.init(.cancelAuthenticationChallenge, failure: failure)
            } else {
                self.init(.useCredential, URLCredential(trust: trust))
            }
        case NSURLAuthenticationMethodClientCertificate:
            if let credential = tls.identity?.storage.credential {
                self.init(.useCredential, credential)
            } else {
                self.init(.performDefaultHandling)
            }
        default:
            self.init(.performDefaultHandling)
        }
    }
}

extension TLSConfiguration {
    /// What is wrong with a server's chain; `nil` if nothing is.
    fileprivate func judge(_ trust: SecTrust, host: String) -> TransportError? {
        let policy = acceptsAnyHostName(from: host) ? nil : host as CFString
        SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, policy))
        if !self.trust.usesSystem || !self.trust.anchors.isEmpty {
            let anchors = self.trust.anchors.compactMap { SecCertificateCreateWithData(nil, $0.der as CFData) }
            SecTrustSetAnchorCertificates(trust, anchors as CFArray)
            SecTrustSetAnchorCertificatesOnly(trust, !self.trust.usesSystem)
        }
        var reason: CFError?
        let isTrusted = SecTrustEvaluateWithError(trust, &reason)
        guard isTrusted || acceptsAnyCertificate(from: host) else {
            let text = reason.map { "\($0)" } ?? "no reason given"
            return TransportError(.tlsFailed, "The certificate of \(host) is not trusted: \(text)")
        }
        guard pins(for: host) != nil else { return nil }
        let sent = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
        do {
            let chain = try sent.map {
                try TLSCertificate(der: SecCertificateCopyData($0) as Data, source: "A certificate of the chain")
            }
            // Of a chain that is not verified, only the server's own certificate proves anything.
            guard let error = pinningError(host: host, chain: isTrusted ? chain : Array(chain.prefix(1))) else {
                return nil
            }
            return TransportError(.tlsFailed, "The chain of \(host) holds none of its pins.", underlying: error)
        } catch {
            return TransportError(.tlsFailed, "The pins of \(host) could not be checked.", underlying: error)
        }
    }

    /// Sets what URLSession is told beforehand.
    func apply(to configuration: URLSessionConfiguration) {
        configuration.tlsMinimumSupportedProtocolVersion = minimumVersion >= .tls13 ? .TLSv13 : .TLSv12
    }
}
#endif
