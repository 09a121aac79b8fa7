internal import Foundation

// Compares certificates with pins (RFC 7469 §2.6).
extension TLSConfiguration {
    /// The pins of a host, including fetched ones. `nil` if the host has none.
    func pins(for host: String) -> [CertificatePin]? {
        let candidates = HostPattern.candidates(for: HostPattern.normalized(host))
        let builtIn = candidates.lazy.compactMap { pins[$0] }.first
        let fetched = signedPins.flatMap { signed in candidates.lazy.compactMap { signed.pins(for: $0) }.first }
        guard builtIn != nil || fetched != nil else { return nil }
        return (builtIn ?? []) + (fetched ?? []).filter { builtIn?.contains($0) != true }
    }

    /// The error for a chain without a required pin, or `nil` if the chain satisfies the host's pins.
    ///
    /// - Parameters:
    ///   - chain: the verified chain, the server's own certificate first. For an unverified chain, only the server's own
    ///     certificate, because a server can append any other.
    func pinningError(host: String, chain: [TLSCertificate]) -> PinningError? {
        guard let expected = pins(for: host) else { return nil }
        let isMatch = chain.contains { expected.contains($0.publicKeyPin) || expected.contains($0.certificatePin) }
        return isMatch ? nil : PinningError(host: host, expected: expected, chain: chain)
    }
}
