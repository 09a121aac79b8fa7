/// A transport that sends requests over other transports. Code that replaces it can find their settings through this protocol.
package protocol ForwardingTransport: Transport {
    /// The transports that may get a request; `nil` if this one also answers requests itself.
    var targets: [any Transport]? { get }
}

extension Transport {
    /// The transports at the ends of all forwarding: the targets' ends, or this transport itself.
    package var ends: [any Transport] {
        guard let targets = (self as? any ForwardingTransport)?.targets else { return [self] }
        return targets.flatMap { $0.ends }
    }

    /// The fingerprints of the client certificates that the transports at the ends present.
    package var identities: [String] {
        ends.compactMap { ($0 as? any TLSConfiguredTransport)?.tls.identity?.fingerprint }
    }
}
