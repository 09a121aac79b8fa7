internal import Foundation

/// The parts of a request's URL as they go over the wire (RFC 9112 §3.2, RFC 9110 §4.2.3).
struct WireTarget {
    let scheme: String
    /// Host and port as in the field `Host`: in lower case, without the scheme's own port.
    // A request's own field goes over the wire in place of the URL's host.
    let authority: String
    /// The encoded path; `/` where the URL has none.
    let path: String
    /// The encoded query, `nil` where there is no question mark.
    let query: String?

    init(_ request: HTTPRequest) {
        let url = request.url
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        scheme = url.scheme?.lowercased() ?? ""
        var host = url.host(percentEncoded: true)?.lowercased() ?? ""
        if host.contains(":"), !host.hasPrefix("[") { host = "[\(host)]" }
        let ownPort = scheme == "https" ? 443 : 80
        let own = if let port = url.port, port != ownPort { "\(host):\(port)" } else { host }
        authority = request.headerFields[.host]?.lowercased() ?? own
        let path = parts?.percentEncodedPath ?? ""
        self.path = path.isEmpty ? "/" : path
        query = parts?.percentEncodedQuery
    }

    /// Path and query.
    var requestTarget: String { query.map { "\(path)?\($0)" } ?? path }
}
