#if canImport(Security)
internal import Foundation
internal import Security

/// The delegate's answer to a URLSession challenge: a server's certificate, or a request for the client's.
struct TLSChallengeAnswer: Sendable {
    let disposition: URLSession.AuthChallengeDisposition
    let credential: URLCredential?
    /// The reason for refusing the server. The task's own error would only say that it was cancelled.
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

    static let leftToSystem = Self(.performDefaultHandling)
    static let rejected = Self(.rejectProtectionSpace)
    static func presenting(_ credential: URLCredential) -> Self { Self(.useCredential, credential) }
    static func refused(_ failure: TransportError) -> Self { Self(.cancelAuthenticationChallenge, failure: failure) }
}

extension ChallengeRule {
    fileprivate init(for space: URLProtectionSpace) {
        let subject: Subject =
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust: .serverTrust
            case NSURLAuthenticationMethodClientCertificate: .clientCertificate
            case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM,
                NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTMLForm:
                .password
            default: .other
            }
        self.init(subject, isProxy: space.isProxy())
    }
}

extension TLSConfiguration {
    /// Answers a challenge according to the settings, immediately or after the server's chain has been evaluated.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        completion: @escaping @Sendable (TLSChallengeAnswer) -> Void
    ) {
        switch ChallengeRule(for: challenge.protectionSpace) {
        case .reject: completion(.rejected)
        case .leaveToSystem: completion(.leftToSystem)
        case .presentIdentity: completion(identity.map { .presenting($0.storage.credential) } ?? .leftToSystem)
        // Left to the system if the settings demand no extra check.
        case .judgeServer where isPlain: completion(.leftToSystem)
        case .judgeServer: judge(challenge, completion: completion)
        }
    }

    // Each evaluation runs on a separate queue, because SecTrust must be started on the queue it reports to. On the session's
    // serial delegate queue, a revocation check over the network would delay all other calls.
    private func judge(
        _ challenge: URLAuthenticationChallenge,
        completion: @escaping @Sendable (TLSChallengeAnswer) -> Void
    ) {
        let queue = DispatchQueue(label: "Transport.TLSChallenge")
        queue.async {
            let host = challenge.protectionSpace.host
            guard let trust = challenge.protectionSpace.serverTrust else {
                return completion(.refused(TransportError(.tlsFailed, "\(host) has shown no certificate.")))
            }
            prepare(trust, host)
            let status = SecTrustEvaluateAsyncWithError(trust, queue) { trust, isTrusted, reason in
                let failure = verdict(trust, host, isTrusted: isTrusted, reason)
                completion(failure.map { .refused($0) } ?? .presenting(URLCredential(trust: trust)))
            }
            guard status != errSecSuccess else { return }
            let message = "The certificate of \(host) could not be evaluated: error \(status)."
            completion(.refused(TransportError(.tlsFailed, message)))
        }
    }

    private func prepare(_ trust: SecTrust, _ host: String) {
        let policy = ignoresNames(of: host) ? nil : host as CFString
        SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, policy))
        guard !self.trust.usesSystem || !self.trust.anchors.isEmpty else { return }
        let anchors = self.trust.anchors.compactMap { SecCertificateCreateWithData(nil, $0.der as CFData) }
        SecTrustSetAnchorCertificates(trust, anchors as CFArray)
        SecTrustSetAnchorCertificatesOnly(trust, !self.trust.usesSystem)
    }

    /// The error for a server's evaluated chain, or `nil` if the chain is accepted.
    private func verdict(_ trust: SecTrust, _ host: String, isTrusted: Bool, _ reason: CFError?) -> TransportError? {
        let text = reason.map { "\($0)" } ?? "no reason given"
        let failure = TransportError(.tlsFailed, "The certificate of \(host) is not trusted: \(text)")
        let isExempt = acceptsAnyCertificate(from: host)
        return refusal(of: host, after: isTrusted ? nil : failure, isExempt: isExempt) {
            try (SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []).map {
                try TLSCertificate(der: SecCertificateCopyData($0) as Data, source: "A certificate of the chain")
            }
        }
    }

    /// Applies the settings that URLSession enforces itself.
    func apply(to configuration: URLSessionConfiguration) {
        configuration.tlsMinimumSupportedProtocolVersion = minimumVersion >= .tls13 ? .TLSv13 : .TLSv12
    }
}
#endif
