public import Foundation

/// The scheme, host and port of a URL (RFC 6454 §4). Credentials are bound to an origin.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower case: international names in ASCII form, IPv6 addresses in brackets.
    public let host: String
    /// The port. If the URL has none, the scheme's default.
    public let port: Int

    /// Creates the origin of an absolute http or https URL with a host. Returns `nil` for any other URL.
    public init?(_ url: URL) {
        if let plain = Self(plain: url.absoluteString) {
            self = plain
            return
        }
        guard let scheme = url.scheme?.lowercased(), let host = Self.host(of: url), !host.isEmpty,
            let defaultPort = scheme == "https" ? 443 : scheme == "http" ? 80 : nil
        else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = url.port ?? defaultPort
    }

    // Nearly every host consists of lowercase letters, digits, dots and hyphens, and is read in one pass, because each request
    // needs its origin several times. Foundation parses every other URL.
    private init?(plain url: String) {
        let bytes = url.utf8
        let scheme: String, defaultPort: Int
        if url.hasPrefix("https://") {
            (scheme, defaultPort) = ("https", 443)
        } else if url.hasPrefix("http://") {
            (scheme, defaultPort) = ("http", 80)
        } else {
            return nil
        }
        let start = bytes.index(bytes.startIndex, offsetBy: scheme.utf8.count + 3)
        let end = bytes[start...].firstIndex { !Self.isPlain($0) } ?? bytes.endIndex
        guard start < end else { return nil }
        port = defaultPort
        if end < bytes.endIndex {
            guard bytes[end] == UInt8(ascii: "/") || bytes[end] == UInt8(ascii: "?") else { return nil }
        }
        self.scheme = scheme
        host = String(url[start..<end])
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func host(of url: URL) -> String? {
        guard let host = url.host(percentEncoded: true) else { return nil }
        let isPlain = host.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: ":") }
        // Only few URLs need `URLComponents`, which parses the URL again.
        return isPlain ? host : URLComponents(url: url, resolvingAgainstBaseURL: true)?.encodedHost
    }

    /// The origin as text, such as `https://example.com:443`.
    public var description: String { "\(scheme)://\(host):\(port)" }
}
