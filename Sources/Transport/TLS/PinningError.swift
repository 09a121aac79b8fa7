public import Foundation

/// A server's chain is trusted, but holds none of the pins of its host. Nothing of the request was sent.
///
/// It is the ``TransportError/underlying`` of a ``TransportError`` with ``TransportError/Code/tlsFailed``.
public struct PinningError: Error, Sendable, Hashable {
    /// The host that was called.
    public let host: String
    /// The pins of which one was to be found.
    public let expected: [CertificatePin]
    /// The certificates of the server's verified chain, its own first, with their pins.
    public let chain: [TLSCertificate]

    /// An error.
    public init(host: String, expected: [CertificatePin], chain: [TLSCertificate]) {
        self.host = host
        self.expected = expected
        self.chain = chain
    }
}

extension PinningError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// Host, expected pins and those of the chain, so that the right one can be copied.
    public var description: String {
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

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
