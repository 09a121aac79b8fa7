extension TLSConfiguration {
    /// A check of a server by the program.
    typealias ServerCheck =
        @Sendable (_ host: String, _ chain: [TLSCertificate], _ failure: (any Error)?) throws -> Void
    /// The receiver of pinning errors.
    typealias PinReport = @Sendable (PinningError) -> Void

    /// These settings with a check by the program, which every new connection must pass besides the standard verification and
    /// the pins.
    ///
    /// ```swift
    /// let tls = TLSConfiguration.system.checkingServers { host, chain, _ in
    ///     guard host != "bank.example.com" || chain.count > 2 else { throw ShortChain() }
    /// }
    /// ```
    /// - Parameter check: called on a thread of the transport when a connection opens, so it must return quickly. If it
    ///   throws, the connection is closed and the call fails with ``HTTPErrorCode/tlsFailed``, whose `underlying` is the
    ///   thrown error. It gets
    ///   - the host, in lowercase and without a trailing dot; a TLS proxy is a host, too, and called `the proxy` on Linux if its
    ///     handshake names none,
    ///   - the verified chain, the server's own certificate first,
    ///   - the standard verification's error. It is `nil` unless the host is exempt from verification
    ///     (``dangerouslyAcceptingInvalidCertificates(from:)``): the check then decides alone, and of an unverified chain only
    ///     the first certificate proves anything.
    ///
    /// The check can refuse a server, never accept one that the settings refuse. Several checks must all pass. A request to an
    /// `http:` URL fails, because nothing of its server could be checked. Requests over a connection that is already open
    /// aren't checked again. On Linux, the certificate's names are compared with the host after the check.
    public func checkingServers(
        _ check: @escaping @Sendable (_ host: String, _ chain: [TLSCertificate], _ failure: (any Error)?) throws -> Void
    ) -> Self {
        var copy = self
        copy.serverChecks.append(Identified(check))
        return copy
    }

    /// These settings with a closure that is called for each new connection to a server whose chain holds none of its pins.
    ///
    /// The call fails with the same error all the same, unless ``signedPins`` have newer pins. Use the report to learn of an
    /// attack, or of a forgotten renewal of certificates, from all users' apps.
    ///
    /// - Parameter report: called on a thread of the transport, so it must return quickly.
    public func reportingPinFailures(to report: @escaping @Sendable (PinningError) -> Void) -> Self {
        var copy = self
        copy.pinReports.append(Identified(report))
        return copy
    }
}

extension TLSConfiguration {
    /// The final decision about a server, the same on all platforms.
    ///
    /// - Parameters:
    ///   - host: the host to connect to.
    ///   - failure: the error of the standard verification, or `nil` if the chain is trusted.
    ///   - isExempt: whether the host may be called in spite of that error.
    ///   - chain: returns the verified chain, or what the server sent if there is an error, the server's own certificate first.
    ///     Called only if the settings need it.
    /// - Returns: the reason for refusing the server; `nil` to accept it.
    func refusal(
        of host: String,
        after failure: TransportError?,
        isExempt: Bool,
        chain: () throws -> [TLSCertificate]
    ) -> TransportError? {
        if let failure, !isExempt { return failure }
        guard pins(for: host) != nil || !serverChecks.isEmpty else { return nil }
        let certificates: [TLSCertificate]
        do {
            certificates = try chain()
        } catch {
            return TransportError(.tlsFailed, "The certificates of \(host) could not be read.", underlying: error)
        }
        // In an unverified chain, only the server's own certificate proves anything.
        let proven = failure == nil ? certificates : Array(certificates.prefix(1))
        if let error = pinningError(host: host, chain: proven) {
            for report in pinReports { report.value(error) }
            return TransportError(.tlsFailed, "The chain of \(host) holds none of its pins.", underlying: error)
        }
        do {
            for check in serverChecks { try check.value(HostPattern.normalized(host), certificates, failure) }
            return nil
        } catch {
            let message = "The program's check of servers (TLSConfiguration.checkingServers) refused \(host)."
            return TransportError(.tlsFailed, message, underlying: error)
        }
    }

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

/// A value that is only equal to itself, such as a closure.
final class Identified<Value: Sendable>: Sendable, Hashable {
    let value: Value

    init(_ value: Value) { self.value = value }

    static func == (one: Identified, other: Identified) -> Bool { one === other }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
