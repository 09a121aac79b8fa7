#if os(Linux)
internal import CInterceptorsCurl
internal import Foundation

// Proxy texts may contain passwords, and libcurl repeats the texts in its errors. libcurl also splits a password with an
// unencoded delimiter differently than its author meant.
extension CurlTransport.Proxy {
    private static let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    private static let schemes: Set<String> = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

    /// The texts of all proxies that may be used. `HTTP_PROXY` is not among them, because a CGI client can set it, and
    /// libcurl ignores it too.
    private var texts: [String] {
        guard let url else { return Self.variables.compactMap { getenv($0).map { String(cString: $0) } } }
        return url.isEmpty ? [] : [url]
    }

    /// Whether the environment names a proxy now.
    static var environmentNamesAny: Bool { !environment.texts.isEmpty }

    /// Whether the connection to one of the proxies may use TLS.
    var mayUseTLS: Bool { texts.contains { ProxyText($0).scheme == "https" } }

    /// The IP address in the URL of the only TLS proxy; `nil` if a name identifies it, or if there are several.
    var addressOverTLS: String? {
        let hosts = Set(texts.map(ProxyText.init).filter { $0.scheme == "https" }.compactMap(\.host))
        guard let host = hosts.first, hosts.count == 1, HostPattern.isAddress(host) else { return nil }
        return host
    }

    /// Throws if libcurl can't read the proxy's URL, or would read it differently than its author meant.
    func check() throws {
        guard let url, !url.isEmpty else { return }
        let proxy = ProxyText(url)
        guard !proxy.isAmbiguous else { throw Self.unreadable(nil) }
        guard Self.schemes.contains(proxy.scheme) else {
            let message =
                "A proxy is called by http, https, socks4, socks4a, socks5 or socks5h, not by \(proxy.scheme)."
            throw TransportError(.unsupported, message)
        }
        guard let handle = ccurl_url_init() else { return }
        defer { ccurl_url_cleanup(handle) }
        let flags = CCURLU_NON_SUPPORT_SCHEME.rawValue | CCURLU_GUESS_SCHEME.rawValue
        guard ccurl_url_set(handle, url, Int32(flags)) else { throw Self.unreadable(self) }
    }

    private static func unreadable(_ proxy: Self?) -> TransportError {
        let name = proxy.map { " (\($0))" } ?? ""
        return TransportError(
            .unsupported,
            "libcurl can't read the proxy's URL\(name): delimiters in its user and password must be percent-encoded."
        )
    }

    /// The error for libcurl's report of an unusable proxy, without the proxy's text, which the report quotes.
    func refusal(_ detail: String) -> TransportError? {
        guard detail.hasPrefix("Unsupported proxy") else { return nil }
        guard url == nil else { return Self.unreadable(nil) }
        let message =
            "libcurl can't use the proxy that the environment names (http_proxy, https_proxy, all_proxy):"
            + " delimiters in its user and password must be percent-encoded."
        return TransportError(.unsupported, message)
    }

    /// Whether a text of libcurl may contain a part of a proxy's user or password.
    func mayBeRevealed(by detail: String) -> Bool {
        texts.contains { text in ProxyText(text).secrets.contains { detail.contains($0) } }
    }
}

/// The parts of a proxy's URL as its author meant them: the last `@` ends the user and password.
struct ProxyText {
    let scheme: String
    /// The user and password, as written.
    private let userInfo: Substring
    private let rest: Substring

    init(_ text: String) {
        let mark = text.range(of: "://")
        scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "http"
        let authority = mark.map { text[$0.upperBound...] } ?? text[...]
        if let at = authority.lastIndex(of: "@") {
            (userInfo, rest) = (authority[..<at], authority[authority.index(after: at)...])
        } else {
            (userInfo, rest) = ("", authority)
        }
    }

    /// Whether libcurl might take a part of the user and password for the host.
    var isAmbiguous: Bool {
        userInfo.unicodeScalars.contains {
            "/?#@\\[]".unicodeScalars.contains($0) || $0.value <= 0x20 || $0.value == 0x7F
        }
    }

    /// The host and port, without a path or query.
    var authority: Substring { rest.prefix { !"/?#".contains($0) } }

    /// The host in normalized form, for comparison.
    var host: String? {
        let authority = authority
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return HostPattern.normalized(String(authority[...end]))
        }
        return authority.split(separator: ":").first.map { HostPattern.normalized(String($0)) }
    }

    /// The parts of the user and password, as written and decoded. A text that reveals the credentials contains at least one
    /// part.
    var secrets: [String] {
        let written = userInfo.split { ":/?#@\\[] ".contains($0) }.map(String.init)
        let decoded = written.compactMap(\.removingPercentEncoding)
        return (written + decoded).filter { !$0.isEmpty }
    }
}

extension CurlTransport.Proxy: CustomStringConvertible, CustomReflectable {
    /// `environment`, `none`, or the scheme, host and port of the URL.
    public var description: String {
        switch url {
        case nil: "environment"
        case "": "none"
        case let url?: Self.withoutUser(url)
        }
    }

    // Works on any text, such as a URL without a scheme, because a proxy may be printed before it is checked.
    private static func withoutUser(_ url: String) -> String {
        let text = ProxyText(url)
        let scheme = url.range(of: "://").map { url[..<$0.upperBound] } ?? ""
        let user = text.secrets.isEmpty ? "" : "\(Redaction.standard.placeholder)@"
        return "\(scheme)\(user)\(text.authority)"
    }

    /// A mirror without the user and password.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}
#endif
