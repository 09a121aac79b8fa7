internal import Foundation
internal import InterceptorsSyntax

/// AWS Signature Version 4: the signer of `.awsV4(…)`.
struct AWSSignatureV4: Sendable {
    let region: String
    let service: String
    var signsBody = true
    /// Puts the signature into the query, valid for this time.
    var validity: Duration?
    /// Whether the path's percent-encoding is removed before it is encoded for signing, as S3 does.
    var decodesPath: Bool?
    let credentials: @Sendable () async throws -> AWSCredentials

    var isForS3: Bool { ["s3", "s3express", "s3-object-lambda", "s3-outposts"].contains(service) }

    var pathRules: AWSCanonicalRequest.PathRules {
        AWSCanonicalRequest.PathRules(normalizes: !isForS3, decodesFirst: decodesPath ?? isForS3)
    }

    func sign(_ request: inout HTTPRequest, at date: Date) async throws {
        guard !request.headers.contains(.authorization) else { return }
        let credentials = try await credentials()
        let stamp = Self.stamp(date)
        let key = Key(
            stamp: stamp,
            scope: [String(stamp.prefix(8)), region, service, "aws4_request"],
            credentials: credentials
        )
        encodePluses(in: &request)
        if let validity {
            try await signQuery(of: &request, with: key, for: validity)
        } else {
            try await signHeader(of: &request, with: key)
        }
    }

    static func stamp(_ date: Date) -> String {
        func digits(_ value: Int, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let time = CivilTime(date)
        return digits(time.year, 4) + digits(time.month, 2) + digits(time.day, 2) + "T"
            + digits(time.hour, 2) + digits(time.minute, 2) + digits(time.second, 2) + "Z"
    }

    // In a path, S3 reads a plus as a space, but compatible services read a plus. Servers differ in the same way about queries.
    // All servers read `%2B` as a plus.
    private func encodePluses(in request: inout HTTPRequest) {
        guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else { return }
        let plus = UInt8(ascii: "+")
        let query = parts.percentEncodedQuery.flatMap { $0.utf8.contains(plus) ? $0 : nil }
        let path = isForS3 && parts.percentEncodedPath.utf8.contains(plus) ? parts.percentEncodedPath : nil
        guard query != nil || path != nil else { return }
        if let query { parts.percentEncodedQuery = query.replacing("+", with: "%2B") }
        if let path { parts.percentEncodedPath = path.replacing("+", with: "%2B") }
        if let url = parts.url { request.url = url }
    }
}

extension AWSSignatureV4 {
    private static let algorithm = "AWS4-HMAC-SHA256"

    /// The signing key of a day, a region and a service, and the parts of it that are sent.
    struct Key {
        let stamp: String
        let scope: [String]
        let credentials: AWSCredentials

        var id: String { "\(credentials.accessKeyID)/\(scope.joined(separator: "/"))" }

        func signature(of canonicalRequest: String) throws -> String {
            let hash = try TransportError.signing { try MessageDigest.of(Array(canonicalRequest.utf8)).hexadecimal }
            var key = SigningKey("AWS4" + credentials.secretAccessKey)
            for part in scope { key = SigningKey(try key.hmacSHA256(part)) }
            return try key.hmacSHA256("\(AWSSignatureV4.algorithm)\n\(stamp)\n\(scope.joined(separator: "/"))\n\(hash)")
                .hexadecimal
        }
    }

    func signHeader(of request: inout HTTPRequest, with key: Key) async throws {
        request.headers["X-Amz-Date"] = key.stamp
        request.headers["X-Amz-Security-Token"] = key.credentials.sessionToken
        let hash = try await payloadHash(of: request)
        if isForS3 || !signsBody { request.headers["X-Amz-Content-Sha256"] = hash }
        let canonical = AWSCanonicalRequest(request, pathRules, payloadHash: hash)
        let signature = try key.signature(of: canonical.text(query: WireTarget(request).query))
        request.headers[.authorization] =
            "\(Self.algorithm) Credential=\(key.id), SignedHeaders=\(canonical.signedHeaders), "
            + "Signature=\(signature)"
    }

    func signQuery(of request: inout HTTPRequest, with key: Key, for validity: Duration) async throws {
        // The date is in the query; a field could contradict it.
        request.headers.remove("X-Amz-Date")
        let hash = isForS3 ? Self.unsignedPayload : try await payloadHash(of: request)
        let canonical = AWSCanonicalRequest(request, pathRules, payloadHash: hash)
        var added = [
            ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", key.id), ("X-Amz-Date", key.stamp),
            ("X-Amz-Expires", "\(min(max(1, validity.components.seconds), 604_800))"),
            ("X-Amz-SignedHeaders", canonical.signedHeaders),
        ]
        if let token = key.credentials.sessionToken { added.append(("X-Amz-Security-Token", token)) }
        let query = Self.query(WireTarget(request).query, adding: added)
        let signature = try key.signature(of: canonical.text(query: query))
        var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        parts?.percentEncodedQuery = "\(query)&X-Amz-Signature=\(signature)"
        guard let url = parts?.url else {
            throw TransportError.unsigned(
                .unsignableRequest,
                "The URL can't take a signature in its query.",
                request: request
            )
        }
        request.url = url
    }

    private static func query(_ query: String?, adding pairs: [(String, String)]) -> String {
        let added = pairs.map { "\($0)=\(PercentEncoding.component($1))" }.joined(separator: "&")
        guard let query, !query.isEmpty else { return added }
        return "\(query)&\(added)"
    }

    private static let unsignedPayload = "UNSIGNED-PAYLOAD"

    private func payloadHash(of request: HTTPRequest) async throws -> String {
        signsBody ? try await request.body.sha256().hexadecimal : Self.unsignedPayload
    }
}
