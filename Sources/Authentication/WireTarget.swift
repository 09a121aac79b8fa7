internal import Foundation

/// The parts of a request's URL as sent (RFC 9112 §3.2, RFC 9110 §4.2.3).
struct WireTarget {
    let scheme: String
    /// Host and port as in the `Host` field: in lower case, without the scheme's default port.
    // A `Host` field in the request is sent instead of the URL's host.
    let authority: String
    /// The encoded path; `/` if the URL's path is empty.
    let path: String
    /// The encoded query; `nil` if the URL has no question mark.
    let query: String?

    init(_ request: HTTPRequest) {
        let url = request.url
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        scheme = url.scheme?.lowercased() ?? ""
        var host = url.host(percentEncoded: true)?.lowercased() ?? ""
        if host.contains(":"), !host.hasPrefix("[") { host = "[\(host)]" }
        let ownPort = scheme == "https" ? 443 : 80
        let own = if let port = url.port, port != ownPort { "\(host):\(port)" } else { host }
        authority = request.headers[.host]?.lowercased() ?? own
        let path = parts?.percentEncodedPath ?? ""
        self.path = path.isEmpty ? "/" : path
        query = parts?.percentEncodedQuery
    }

    /// The path, followed by the query if there is one.
    var requestTarget: String { query.map { "\(path)?\($0)" } ?? path }
}
