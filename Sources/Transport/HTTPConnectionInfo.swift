/// The connection that carried an exchange: its HTTP version, its peer, and its TLS parameters.
///
/// ```swift
/// let (user, response) = try await api.response("/users/42", as: User.self)
/// if let connection = response.context.connection, let suite = connection.cipherSuite {
///     print("\(suite) with \(connection.remoteAddress ?? "an unknown peer")")
/// }
/// ```
/// Each property is `nil` if the transport doesn't know it.
public struct HTTPConnectionInfo: Sendable, Hashable {
    /// The HTTP version of the response.
    public var httpVersion: HTTPVersion?
    /// The IP address of the connection's peer, such as `192.0.2.1` or `2001:db8::1`. Through a proxy, the proxy's address.
    public var remoteAddress: String?
    /// The port of the connection's peer. Through a proxy, the proxy's port.
    public var remotePort: Int?
    /// The TLS version negotiated with the server. `nil` for `http` URLs.
    public var tlsVersion: TLSVersion?
    /// The cipher suite negotiated with the server, by its name in the registry of IANA (RFC 8446 §B.4), such as
    /// `TLS_AES_128_GCM_SHA256`. A suite that is rare today is a number, such as `0x009C`. `nil` for `http` URLs.
    public var cipherSuite: String?

    /// Creates a description of a connection, for transports and stubs.
    public init(
        httpVersion: HTTPVersion? = nil,
        remoteAddress: String? = nil,
        remotePort: Int? = nil,
        tlsVersion: TLSVersion? = nil,
        cipherSuite: String? = nil
    ) {
        self.httpVersion = httpVersion
        self.remoteAddress = remoteAddress
        self.remotePort = remotePort
        self.tlsVersion = tlsVersion
        self.cipherSuite = cipherSuite
    }
}

/// A version of HTTP (RFC 9110 §2.5).
public struct HTTPVersion: OpenSet {
    /// The version, such as `HTTP/1.1` or `HTTP/2`.
    public let rawValue: String
    /// Creates a version from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// HTTP/1.0 (RFC 1945).
    public static let http10 = Self(rawValue: "HTTP/1.0")
    /// HTTP/1.1 (RFC 9112).
    public static let http11 = Self(rawValue: "HTTP/1.1")
    /// HTTP/2 (RFC 9113).
    public static let http2 = Self(rawValue: "HTTP/2")
    /// HTTP/3 (RFC 9114).
    public static let http3 = Self(rawValue: "HTTP/3")

    /// The version that a protocol name of ALPN (RFC 7301) identifies, such as `h2`. Unknown names are kept.
    init(protocolName: String) {
        switch protocolName {
        case "http/1.0": self = .http10
        case "http/1.1": self = .http11
        case "h2", "h2c": self = .http2
        // Drafts had names such as "h3-29".
        case _ where protocolName == "h3" || protocolName.hasPrefix("h3-"): self = .http3
        default: self.init(rawValue: protocolName)
        }
    }
}
