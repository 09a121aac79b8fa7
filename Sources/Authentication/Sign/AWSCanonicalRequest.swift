internal import Foundation
internal import InterceptorsSyntax

/// The canonical form of a request, which client and server both hash (AWS Signature Version 4, "Create a canonical
/// request").
struct AWSCanonicalRequest: Sendable {
    /// The rules for a canonical path.
    ///
    /// All services except S3 normalise the path and encode it as sent: `%` becomes `%25`, and characters that are sent
    /// unencoded, such as `*` or `:`, are encoded once. S3 doesn't normalise, and encodes the decoded path, which is a key.
    struct PathRules: Sendable {
        var normalizes = true
        var decodesFirst = false

        static let standard = PathRules()
        static let s3 = PathRules(normalizes: false, decodesFirst: true)
    }

    private let request: HTTPRequest
    private let headers: [(name: String, value: String)]
    private let pathRules: PathRules
    private let payloadHash: String

    init(_ request: HTTPRequest, _ pathRules: PathRules, payloadHash: String) {
        self.request = request
        headers = Self.headers(of: request).sorted { $0.name < $1.name }
        self.pathRules = pathRules
        self.payloadHash = payloadHash
    }

    var signedHeaders: String { headers.map(\.name).joined(separator: ";") }

    /// The text to hash, with this query in place of the request's.
    func text(query: String?) -> String {
        let path = Self.path(WireTarget(request).path, pathRules)
        let lines = headers.map { "\($0.name):\($0.value)\n" }.joined()
        return [request.method.rawValue, path, Self.query(query ?? ""), lines, signedHeaders, payloadHash]
            .joined(separator: "\n")
    }

    // MARK: Path

    static func path(_ encoded: String, _ rules: PathRules) -> String {
        let path = rules.normalizes ? normalized(encoded) : encoded
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { PercentEncoding.component(rules.decodesFirst ? decoded($0) : Array($0.utf8)) }
            .joined(separator: "/")
    }

    /// The path without dot segments (RFC 3986 §5.2.4), with each run of slashes as one slash.
    private static func normalized(_ path: String) -> String {
        let segments = path.split(separator: "/")
        let end = segments.isEmpty || path.utf8.last != UInt8(ascii: "/") ? "" : "/"
        return DotSegments.removed(from: "/" + segments.joined(separator: "/") + end)
    }

    // MARK: Query

    /// The query's pairs, strictly encoded and sorted by bytes. A `+` means a plus sign, not a space.
    static func query(_ encoded: String) -> String {
        encoded.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (recoded(parts[0]), parts.count > 1 ? recoded(parts[1]) : "")
        }
        .sorted { $0 < $1 }
        .map { "\($0)=\($1)" }
        .joined(separator: "&")
    }

    // MARK: Headers

    /// The host, and all fields that transports and proxies don't set or change.
    static func headers(of request: HTTPRequest) -> [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for field in request.headers {
            let name = field.name.rawName.lowercased()
            guard !unsigned.contains(name), !name.hasPrefix("proxy-"), !name.hasPrefix("sec-") else { continue }
            values[name, default: []].append(collapsed(field.value))
        }
        values["host"] = [WireTarget(request).authority]
        return values.map { ($0, $1.joined(separator: ",")) }
    }

    private static let unsigned: Set<String> = [
        "accept-encoding", "authorization", "cache-control", "connection", "content-length", "expect", "from",
        "keep-alive", "max-forwards", "pragma", "referer", "te", "traceparent", "tracestate", "trailer",
        "transfer-encoding", "upgrade", "user-agent", "via", "x-amzn-trace-id",
    ]

    // Splits by bytes: for a `String`, a space followed by a combining accent isn't a space.
    private static func collapsed(_ value: String) -> String {
        guard value.utf8.contains("  ".utf8) else { return value }
        return value.utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }.joined(separator: " ")
    }

    private static func decoded(_ text: Substring) -> [UInt8] { Array(text.utf8).percentDecoded }

    private static func recoded(_ text: Substring) -> String { PercentEncoding.component(decoded(text)) }
}
