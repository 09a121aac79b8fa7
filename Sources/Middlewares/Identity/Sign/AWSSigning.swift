internal import Foundation
internal import InterceptorsSyntax

extension AWSSignatureV4 {
    private static let algorithm = "AWS4-HMAC-SHA256"

    func signHeader(
        of request: inout HTTPRequest,
        _ credentials: AWSCredentials,
        _ stamp: String,
        _ scope: String
    ) async throws {
        request.headerFields["X-Amz-Date"] = stamp
        request.headerFields["X-Amz-Security-Token"] = credentials.sessionToken
        let hash = try await payloadHash(of: request)
        if Self.isS3(service) || !signsBody { request.headerFields["X-Amz-Content-Sha256"] = hash }
        let canonical = AWSCanonicalRequest(
            request,
            query: WireTarget(request).query,
            headers: AWSCanonicalRequest.headers(of: request),
            pathRules: pathRules,
            payloadHash: hash
        )
        let signature = try signature(of: canonical, credentials, stamp, scope)
        request.headerFields[.authorization] =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope), "
            + "SignedHeaders=\(canonical.signedHeaders), Signature=\(signature)"
    }

    func signQuery(
        of request: inout HTTPRequest,
        _ credentials: AWSCredentials,
        _ stamp: String,
        _ scope: String,
        _ expires: Duration
    ) async throws {
        // The date is in the query; a field could contradict it.
        request.headerFields.remove("X-Amz-Date")
        let headers = AWSCanonicalRequest.headers(of: request)
        let hash = Self.isS3(service) ? Self.unsignedPayload : try await payloadHash(of: request)
        var added = [
            ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope)"),
            ("X-Amz-Date", stamp), ("X-Amz-Expires", "\(min(max(1, expires.components.seconds), 604_800))"),
            ("X-Amz-SignedHeaders", headers.map(\.name).sorted().joined(separator: ";")),
        ]
        if let token = credentials.sessionToken { added.append(("X-Amz-Security-Token", token)) }
        let query = Self.query(WireTarget(request).query, adding: added)
        let canonical = AWSCanonicalRequest(
            request,
            query: query,
            headers: headers,
            pathRules: pathRules,
            payloadHash: hash
        )
        let signature = try signature(of: canonical, credentials, stamp, scope)
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

    private func signature(
        of canonical: AWSCanonicalRequest,
        _ credentials: AWSCredentials,
        _ stamp: String,
        _ scope: String
    ) throws -> String {
        let hash = try TransportError.signing { try MessageDigest.of(Array(canonical.text.utf8)).hexadecimal }
        let text = "\(Self.algorithm)\n\(stamp)\n\(scope)\n\(hash)"
        var key = SigningKey("AWS4" + credentials.secretAccessKey)
        for part in [String(stamp.prefix(8)), region, service, "aws4_request"] {
            key = SigningKey(try key.hmacSHA256(part))
        }
        return try key.hmacSHA256(text).hexadecimal
    }
}
