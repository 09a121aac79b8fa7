internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax

/// An origin without its secrets, as the file with a folder's home origin and the names of folders have it.
struct OriginText: Hashable, Sendable {
    let scheme: String
    /// In lower case. A `*` stands for a secret.
    let host: [UInt8]
    /// The port, unless it is the scheme's default.
    let port: Int?

    /// The origin of a URL; `nil` if it has none.
    init?(_ url: URL, redaction: ExchangeRedaction) {
        guard let origin = Origin(url) else { return nil }
        let port = origin.port == Self.defaultPort(origin.scheme) ? "" : ":\(origin.port)"
        let text = redaction.url("\(origin.scheme)://\(origin.host)\(port)/")
        self.init(text: text.replacing(ExchangeRedaction.placeholder, with: "*"))
    }

    /// Reads an origin, such as `https://api.example.com:8443`. A path after it has no effect.
    ///
    /// - Parameter defaultScheme: the scheme of a text that begins with two slashes; without it, such a text is refused.
    init?(text: String, defaultScheme: String? = nil) {
        let url = RecordedURL(text.hasPrefix("//") ? (defaultScheme ?? "") + ":" + text : text)
        let scheme = String(decoding: url.scheme, as: UTF8.self)
        guard ["http", "https"].contains(scheme), !url.host.isEmpty,
            !url.host.contains(where: { $0 <= 0x20 || $0 == 0x7F }),
            let port = UInt16(String(decoding: url.port, as: UTF8.self))
        else { return nil }
        self.scheme = scheme
        host = url.host
        self.port = port == Self.defaultPort(scheme) ? nil : Int(port)
    }

    private static func defaultPort(_ scheme: String) -> UInt16 { scheme == "https" ? 443 : 80 }

    /// The origin as it is written: `https://api.example.com:8443`.
    var text: String {
        "\(scheme)://\(String(decoding: host, as: UTF8.self))" + (port.map { ":\($0)" } ?? "")
    }
}
