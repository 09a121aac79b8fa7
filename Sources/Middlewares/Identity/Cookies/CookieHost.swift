internal import Foundation

/// The parts of a request's URL that decide which cookies it sends and sets.
struct CookieHost: Sendable {
    /// The host in lower case: an international name in its ASCII form, an IPv6 address in brackets, as in `Domain`.
    let name: String
    let path: String
    let isSecure: Bool

    // RFC 1035 §2.3.4. A redirect may name a host of any length, and the jar looks up cookies for each of its parent domains.
    private static let longestName = 255

    init?(_ url: URL) {
        guard let origin = Origin(url), origin.host.utf8.count <= Self.longestName else { return nil }
        name = origin.host
        isSecure = origin.scheme == "https"
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        self.path = path.hasPrefix("/") ? path : "/"
    }

    /// Converts a host that a caller wrote by hand to the form of ``name``.
    static func name(_ host: String) -> String {
        let isAddress = host.contains(":") && !host.hasPrefix("[")
        guard isAddress || host.utf8.contains(where: { $0 >= 0x80 }),
            !host.utf8.contains(where: { "/?#@".utf8.contains($0) }),
            let url = URL(string: "http://" + (isAddress ? "[\(host)]" : host) + "/")
        else { return host }
        return Origin(url)?.host ?? host
    }

    /// The default path of a cookie set by this URL (RFC 6265 §5.1.4).
    var defaultPath: String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether the host is an IP address, which has no parent domains (RFC 6265 §5.1.3).
    var isAddress: Bool {
        name.contains(":") || name.utf8.allSatisfy { $0 == UInt8(ascii: ".") || $0 &- UInt8(ascii: "0") < 10 }
    }

    func matches(domain: String) -> Bool { name == domain || !isAddress && name.hasSuffix(".\(domain)") }

    /// Whether a path matches a cookie's path (RFC 6265 §5.1.4).
    static func path(_ path: String, isBelow parent: String) -> Bool {
        guard path.utf8.starts(with: parent.utf8) else { return false }
        return path.utf8.count == parent.utf8.count || parent.hasSuffix("/")
            || path.utf8.dropFirst(parent.utf8.count).first == UInt8(ascii: "/")
    }
}
