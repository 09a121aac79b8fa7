/// Whom a transport trusts, and who it says it is: trust, pins, a client identity.
///
/// ```swift
/// // The system's roots, and one of these keys in the chain:
/// let transport: some Transport = .platform(tls: .pinned(["sha256/…", "sha256/…"]))
///
/// // Pins for some hosts, an authority of one's own, a client certificate:
/// var tls = TLSConfiguration(trust: .only(try TLSCertificate.all(in: rootsURL)))
/// tls.pins = ["api.example.com": ["sha256/…", "sha256/…"], ".example.org": ["sha256/…"]]
/// tls.identity = try ClientIdentity(pkcs12: archiveURL, password: password)
/// ```
/// - Whatever is set, the chain must lead to a trusted root, no certificate may have expired, and the host's name must be
///   that of the certificate. Pins are demanded on top of it.
/// - Pins are looked for in every certificate of the verified chain, not only in the server's own.
/// - A host with pins is not called over `http`.
/// - A connection that was not verified by these settings is never used. On Linux no TLS session is resumed under them, either.
///   **Apple's platforms** give no way to switch that off for a session: where the same program also calls a pinned host
///   without its pins, the system may resume the TLS session of such a call, and then asks nobody whether to trust the host.
///   Call a host with its pins from all of the program. Nor can it be ruled out there that the system sends, over HTTP/2, the
///   requests for a pinned host over a connection that it made for a host without pins, where the certificate of that one
///   names both: pin the whole domain (`".example.com"`), or give the pinned hosts a transport of their own.
/// - A proxy that is spoken to over TLS is verified by the same settings, as the host that it is.
/// - Wrong input fails when it is made: a file that is missing, a certificate or a pin that is none. A literal can't throw:
///   a transport with an invalid pin or host pattern sends nothing, and each call fails with its text.
/// - What a transport can't do it refuses with an error, before anything is sent. On Linux, URLSession can do none of it;
///   ``CurlTransport`` can, with OpenSSL.
public struct TLSConfiguration: Sendable, Hashable {
    /// Which roots are trusted; by default the system's.
    public var trust: TLSTrust
    /// For which hosts one of which pins must be in the chain; by default for none. An empty list matches no chain.
    public var pins: [HostPattern: [CertificatePin]]
    /// The oldest version of TLS to speak, by default 1.2.
    public var minimumVersion: TLSVersion
    /// What is presented to servers that ask for a client certificate; by default nothing. Every server that asks is told:
    /// give an identity a transport of its own.
    public var identity: ClientIdentity?
    /// Pins that were fetched and signed, accepted beside ``pins``; by default none.
    public var signedPins: SignedPins?

    private(set) var hostsWithoutTrust: Set<String> = []
    private(set) var hostsWithoutName: Set<String> = []

    /// Settings; by default those of the system.
    public init(
        trust: TLSTrust = .system,
        pins: [HostPattern: [CertificatePin]] = [:],
        minimumVersion: TLSVersion = .tls12,
        identity: ClientIdentity? = nil,
        signedPins: SignedPins? = nil
    ) {
        self.trust = trust
        self.pins = pins
        self.minimumVersion = minimumVersion
        self.identity = identity
        self.signedPins = signedPins
    }

    /// The system's roots, TLS 1.2 or later, no pins: the default of every transport.
    public static let system = TLSConfiguration()

    /// One of these pins must be in the chain of every host.
    public static func pinned(_ pins: [CertificatePin], trust: TLSTrust = .system) -> Self {
        Self(trust: trust, pins: [.any: pins])
    }

    /// One of a host's pins must be in its chain. Hosts without pins are called as usual.
    public static func pinned(_ pins: [HostPattern: [CertificatePin]], trust: TLSTrust = .system) -> Self {
        Self(trust: trust, pins: pins)
    }
}

extension TLSConfiguration {
    /// **Dangerous:** the same settings, but whoever answers for this host is believed: any certificate, expired, self-signed
    /// or of an unknown authority. Only for a server on the same machine or in a test.
    ///
    /// Where the host has pins, the certificate that the server presents as its own must match one: that is as safe as the
    /// pin is.
    public func dangerouslyAcceptingInvalidCertificates(from host: String) -> Self {
        var copy = self
        copy.hostsWithoutTrust.insert(HostPattern.normalized(host))
        return copy
    }

    /// **Dangerous:** the same settings, but for this host any trusted certificate will do, whatever host it was made for:
    /// whoever has one can answer.
    public func dangerouslyAcceptingAnyHostName(from host: String) -> Self {
        var copy = self
        copy.hostsWithoutName.insert(HostPattern.normalized(host))
        return copy
    }
}

/// The roots that are trusted.
public struct TLSTrust: Sendable, Hashable {
    let usesSystem: Bool
    let anchors: [TLSCertificate]

    /// Those of the system.
    public static let system = TLSTrust(usesSystem: true, anchors: [])

    /// Those of the system, and these. An anchor may be a root, an intermediate or a server's own certificate.
    public static func system(adding anchors: [TLSCertificate]) -> Self { Self(usesSystem: true, anchors: anchors) }

    /// These alone; none, if the list is empty.
    public static func only(_ anchors: [TLSCertificate]) -> Self { Self(usesSystem: false, anchors: anchors) }
}

/// A version of TLS.
public struct TLSVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    let number: UInt16

    /// TLS 1.2 (RFC 5246).
    public static let tls12 = TLSVersion(number: 0x0303)
    /// TLS 1.3 (RFC 8446).
    public static let tls13 = TLSVersion(number: 0x0304)

    /// The version, such as `TLS 1.3`.
    public var description: String { "TLS 1.\(number - 0x0301)" }

    /// Older versions come first.
    public static func < (one: Self, other: Self) -> Bool { one.number < other.number }
}
