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

    /// `nil` unless the URL has the usual spelling.
    private init?(usual url: String) {
        var url = url
        let found = url.withUTF8 { bytes in
            UsualOrigin(bytes).map { origin in
                (origin, String(decoding: UnsafeBufferPointer(rebasing: bytes[origin.host]), as: UTF8.self))
            }
        }
        guard let (origin, host) = found else { return nil }
        scheme = origin.isSecure ? "https" : "http"
        self.host = host
        port = origin.port
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

extension URL {
    /// The origin if it has the usual spelling, read in one pass. Asking `URL` for its parts would create a string for each.
    var usualOrigin: UsualOrigin? {
        var text = absoluteString
        return text.withUTF8 { UsualOrigin($0) }
    }

    /// Whether the scheme is https.
    var isHTTPS: Bool { usualOrigin?.isSecure ?? (scheme?.lowercased() == "https") }
}
