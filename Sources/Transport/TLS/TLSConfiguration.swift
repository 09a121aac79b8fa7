/// The TLS settings of a transport: trusted roots, pins and a client identity.
///
/// ```swift
/// // Trust the system's roots, and require one of these keys in the chain:
/// let transport: some Transport = .platform(tls: .pinned(["sha256/…", "sha256/…"]))
/// // … or one of the certificates in the app's bundle:
/// let bundled: some Transport = .platform(tls: .pinned(certificatesIn: .main))
///
/// // Pins for some hosts, a custom root, a client certificate:
/// var tls = TLSConfiguration(trust: .only(try TLSCertificate.all(in: rootsURL)))
/// tls.pins = ["api.example.com": ["sha256/…", "sha256/…"], ".example.org": ["sha256/…"]]
/// tls.identity = try ClientIdentity(pkcs12: archiveURL, password: password)
/// ```
/// - Regardless of the settings, the chain must lead to a trusted root, no certificate may have expired, and the certificate
///   must name the host. Pins are required in addition.
/// - A pin may match any certificate of the verified chain, not only the server's own.
/// - A host with pins is never called over `http`.
/// - A connection that these settings haven't verified is never used. On Linux, no TLS session is resumed under them either.
///   **Apple platforms** can't disable resumption for a session. If the same app also calls a pinned host without its pins, the
///   system may resume that call's TLS session without checking trust again. Call a host with its pins everywhere in the app.
///   Over HTTP/2, the system may also send a pinned host's requests over a connection to a host without pins whose certificate
///   names both. Pin the whole domain (`".example.com"`), or use a separate transport for the pinned hosts.
/// - A TLS proxy is verified by the same settings, as a host like any other.
/// - A check of the program itself is required in addition too: ``checkingServers(_:)``. ``reportingPinFailures(to:)`` tells
///   about servers whose pins don't match.
/// - Invalid input fails at creation: a missing file, or data that isn't a certificate or a pin. A literal can't throw. A
///   transport with an invalid pin or host pattern sends nothing instead, and each call fails with the literal's text.
/// - A transport refuses settings that it can't apply, with an error and before anything is sent. On Linux, URLSession supports
///   none of these settings; ``CurlTransport`` supports all of them through OpenSSL.
public struct TLSConfiguration: Sendable, Hashable {
    /// The trusted roots. By default the system's.
    public var trust: TLSTrust
    /// The pins required for each host; the chain must contain at least one. By default no host has pins. An empty list matches
    /// no chain.
    public var pins: [HostPattern: [CertificatePin]]
    /// The oldest TLS version to accept. By default 1.2.
    public var minimumVersion: TLSVersion
    /// The identity presented to servers that request a client certificate. By default none. Every server that requests a
    /// certificate learns the identity, so use a separate transport for each identity.
    public var identity: ClientIdentity?
    /// Fetched and signed pins, accepted beside ``pins``. By default none.
    public var signedPins: SignedPins?
    /// Whether requests to `http:` URLs fail with ``HTTPErrorCode/tlsFailed`` before anything is sent. By default `false`.
    /// The transport checks each request that it gets, also after a redirect.
    public var isRequired = false

    private(set) var hostsWithoutTrust: Set<String> = []
    private(set) var hostsWithoutName: Set<String> = []
    var serverChecks: [Identified<ServerCheck>] = []
    var pinReports: [Identified<PinReport>] = []

    /// Creates settings. By default the system's.
    ///
    /// - Parameters:
    ///   - trust: the trusted roots.
    ///   - pins: the pins required for each host. A pattern that is written twice, perhaps in different letter case, has the pins
    ///     of both.
    ///   - minimumVersion: the oldest TLS version to accept.
    ///   - identity: the identity presented to servers that request a client certificate.
    ///   - signedPins: fetched and signed pins, accepted beside `pins`.
    public init(
        trust: TLSTrust = .system,
        pins: KeyValuePairs<HostPattern, [CertificatePin]> = [:],
        minimumVersion: TLSVersion = .tls12,
        identity: ClientIdentity? = nil,
        signedPins: SignedPins? = nil
    ) {
        self.trust = trust
        self.pins = Dictionary(pins.map { ($0.key, $0.value) }, uniquingKeysWith: +)
        self.minimumVersion = minimumVersion
        self.identity = identity
        self.signedPins = signedPins
    }

    /// The system's roots, TLS 1.2 or later, and no pins. Every transport's default.
    public static let system = TLSConfiguration()

    /// Requires one of these pins in the chain of every host.
    public static func pinned(_ pins: [CertificatePin], trust: TLSTrust = .system) -> Self {
        Self(trust: trust, pins: [.any: pins])
    }

    // Not a dictionary: its literal traps if two of its keys are equal, as `"API.example.com"` and `"api.example.com"` are.
    /// Requires one of a host's pins in its chain. Hosts without pins are called as usual. A pattern that is written twice has
    /// the pins of both.
    public static func pinned(
        _ pins: KeyValuePairs<HostPattern, [CertificatePin]>,
        trust: TLSTrust = .system
    ) -> Self {
        Self(trust: trust, pins: pins)
    }

    /// Requires one of a host's pins in its chain. Hosts without pins are called as usual.
    @_disfavoredOverload
    public static func pinned(_ pins: [HostPattern: [CertificatePin]], trust: TLSTrust = .system) -> Self {
        var tls = Self(trust: trust)
        tls.pins = pins
        return tls
    }
}

extension TLSConfiguration {
    /// **Dangerous:** these settings, except that any certificate is accepted for this host: expired, self-signed or from an
    /// unknown authority. Anybody can impersonate the host. Use it only for a server on the same machine or in a test.
    ///
    /// If the host has pins, the server's own certificate must still match one of them, and is then as trustworthy as the pin.
    public func dangerouslyAcceptingInvalidCertificates(from host: String) -> Self {
        var copy = self
        copy.hostsWithoutTrust.insert(HostPattern.normalized(host))
        return copy
    }

    /// **Dangerous:** these settings, except that a trusted certificate for any host is accepted for this host. Anybody with
    /// such a certificate can impersonate the host.
    public func dangerouslyAcceptingAnyHostName(from host: String) -> Self {
        var copy = self
        copy.hostsWithoutName.insert(HostPattern.normalized(host))
        return copy
    }
}

/// The trusted roots.
public struct TLSTrust: Sendable, Hashable {
    let usesSystem: Bool
    let anchors: [TLSCertificate]

    /// The system's roots.
    public static let system = TLSTrust(usesSystem: true, anchors: [])

    /// The system's roots and the given anchors. An anchor may be a root, an intermediate or a server's own certificate.
    public static func system(adding anchors: [TLSCertificate]) -> Self { Self(usesSystem: true, anchors: anchors) }

    /// Only the given anchors. An empty list trusts nobody.
    public static func only(_ anchors: [TLSCertificate]) -> Self { Self(usesSystem: false, anchors: anchors) }
}

/// A version of TLS.
public struct TLSVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    let number: UInt16

    /// TLS 1.2 (RFC 5246).
    public static let tls12 = TLSVersion(number: 0x0303)
    /// TLS 1.3 (RFC 8446).
    public static let tls13 = TLSVersion(number: 0x0304)

    private init(number: UInt16) { self.number = number }

    /// The version that a connection negotiated; `nil` for versions without a name here, such as DTLS.
    init?(negotiated number: UInt16) {
        guard 0x0303...0x0304 ~= number else { return nil }
        self.number = number
    }

    /// The version, such as `TLS 1.3`.
    public var description: String { "TLS 1.\(number - 0x0301)" }

    /// Orders older versions before newer ones.
    public static func < (one: Self, other: Self) -> Bool { one.number < other.number }
}
