/// Thrown when a server's trusted chain contains none of its host's pins. Nothing of the request was sent.
///
/// The error is the ``TransportError/underlying`` of a ``TransportError`` with ``HTTPErrorCode/tlsFailed``.
public struct PinningError: HTTPError, Hashable {
    /// The host that was called.
    public let host: String
    /// The host's pins. The chain had to contain at least one.
    public let expected: [CertificatePin]
    /// The certificates of the server's verified chain with their pins, the server's own first.
    public let chain: [TLSCertificate]

    /// Creates an error.
    public init(host: String, expected: [CertificatePin], chain: [TLSCertificate]) {
        self.host = host
        self.expected = expected
        self.chain = chain
    }
}

extension HTTPErrorCode {
    /// `PinningError`: the server's trusted chain contains none of its host's pins.
    public static let pinMismatch = Self(rawValue: "pinMismatch")
}

extension PinningError {
    /// Always ``HTTPErrorCode/pinMismatch``.
    public var code: HTTPErrorCode { .pinMismatch }

    /// Equal to ``message``.
    public var description: String { message }

    /// A short English sentence for people.
    public var errorDescription: String? { ErrorSentence.insecure }

    /// `nil`: the error is about a host.
    public var request: HTTPRequest.Summary? { nil }
    /// `nil`: no response caused the error.
    public var response: HTTPResponse? { nil }
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }

    /// Always empty: the ``TransportError`` around this error has the context of the call.
    public var context: HTTPContext {
        get { HTTPContext() }
        set {}
    }

    /// The host, the expected pins and the chain's pins, so that the right pin can be copied.
    public var message: String {
        let wanted = expected.isEmpty ? "  (none: an empty list matches nothing)" : Self.list(expected)
        let note =
            "If the server's key was changed on purpose, pin one of these; if not, somebody may be reading along."
        return """
            The chain of \(host) holds none of its pins.
            Expected one of:
            \(wanted)
            The server's chain has:
            \(Self.list(chain))
            \(note)
            """
    }

    private static func list(_ items: [some CustomStringConvertible]) -> String {
        items.map { "  \($0)" }.joined(separator: "\n")
    }
}
