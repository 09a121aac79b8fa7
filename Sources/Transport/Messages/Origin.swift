public import Foundation
internal import InterceptorsSyntax

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
        if let usual = Self(usual: url.absoluteString) {
            self = usual
            return
        }
        guard let scheme = url.scheme?.lowercased(), let host = Self.host(of: url), !host.isEmpty,
            let defaultPort = scheme == "https" ? 443 : scheme == "http" ? 80 : nil
        else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = url.port ?? defaultPort
    }

    /// `nil` unless the URL has the usual spelling and no port.
    private init?(usual url: String) {
        var url = url
        let found = url.withUTF8 { bytes -> (origin: UsualOrigin, host: String)? in
            guard let origin = UsualOrigin(bytes) else { return nil }
            let end = origin.host.upperBound
            guard end == bytes.count || bytes[end] == UInt8(ascii: "/") || bytes[end] == UInt8(ascii: "?") else {
                return nil
            }
            return (origin, String(decoding: UnsafeBufferPointer(rebasing: bytes[origin.host]), as: UTF8.self))
        }
        guard let found else { return nil }
        scheme = found.origin.isSecure ? "https" : "http"
        host = found.host
        port = found.origin.port
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
