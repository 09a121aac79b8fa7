internal import Foundation

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

    let text: String
    let signedHeaders: String

    init(
        _ request: HTTPRequest,
        query: String?,
        headers: [(name: String, value: String)],
        pathRules: PathRules,
        payloadHash: String
    ) {
        let sorted = headers.sorted { $0.name < $1.name }
        signedHeaders = sorted.map(\.name).joined(separator: ";")
        let lines = sorted.map { "\($0.name):\($0.value)\n" }.joined()
        let path = Self.path(WireTarget(request).path, pathRules)
        text = [request.method.rawValue, path, Self.query(query ?? ""), lines, signedHeaders, payloadHash]
            .joined(separator: "\n")
    }

    // MARK: Path

    static func path(_ encoded: String, _ rules: PathRules) -> String {
        var segments = encoded.split(separator: "/", omittingEmptySubsequences: false)
        if rules.normalizes { segments = normalized(segments) }
        return segments.map { strictlyEncoded(rules.decodesFirst ? decoded($0) : Array($0.utf8)) }
            .joined(separator: "/")
    }

    // RFC 3986 §5.2.4; in addition, consecutive slashes are merged.
    private static func normalized(_ segments: [Substring]) -> [Substring] {
        var kept: [Substring] = []
        for segment in segments where !segment.isEmpty && segment != "." {
            if segment == ".." { _ = kept.popLast() } else { kept.append(segment) }
        }
        let endsInSlash = ["", ".", ".."].contains(segments.last ?? "")
        return [""] + kept + (endsInSlash || kept.isEmpty ? [""] : [])
    }

    // MARK: Query

    /// The query's pairs, strictly encoded and sorted by bytes. A `+` means a plus sign, not a space.
    static func query(_ encoded: String) -> String {
        encoded.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                strictlyEncoded(decoded(parts[0])), parts.count > 1 ? strictlyEncoded(decoded(parts[1])) : ""
            )
        }
        .sorted { $0 < $1 }
        .map { "\($0)=\($1)" }
        .joined(separator: "&")
    }

    // MARK: Headers

    /// The host, and all fields that transports and proxies don't set or change.
    static func headers(of request: HTTPRequest) -> [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for field in request.headerFields {
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

    // MARK: Encoding

    static func strictlyEncoded(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                output.append(byte)
            default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func decoded(_ text: Substring) -> [UInt8] {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Character(Unicode.Scalar(bytes[index + 1])).hexDigitValue,
                let low = Character(Unicode.Scalar(bytes[index + 2])).hexDigitValue
            {
                output.append(UInt8(high << 4 | low))
                index += 3
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return output
    }
}
