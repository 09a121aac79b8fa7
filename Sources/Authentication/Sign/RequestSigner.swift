public import Foundation

/// Signs requests, to prove who sent them: adds a field or query parameter computed from the rest of the request.
///
/// Ready-made signers are `.hmacSHA256(…)` (RFC 9421) and `.awsV4(…)`. For a server's proprietary scheme, pass a
/// closure:
///
/// ```swift
/// let key = SigningKey(secret)
/// let signer = RequestSigner { request, date in
///     let digest = try await request.body.sha256()
///     request.headers["X-Digest"] = digest.base64EncodedString()
///     request.headers["X-Signature"] = try SigningKey(secret).hmacSHA256(digest).base64EncodedString()
/// }
/// ```
public struct RequestSigner: Sendable {
    private let body: @Sendable (inout HTTPRequest, Date) async throws -> Void

    /// Creates a signer from a closure, which adds the signature to a request that no other interceptor changes afterwards.
    ///
    /// If the closure throws, the caller gets the error and nothing is sent.
    ///
    /// - Parameter sign: receives the request, whose restartable body has a digest (``InterceptorsTransport/HTTPBody/sha256()``), and the time of
    ///   signing.
    public init(_ sign: @escaping @Sendable (_ request: inout HTTPRequest, _ date: Date) async throws -> Void) {
        body = sign
    }

    /// Adds the signature to a request.
    ///
    /// - Parameters:
    ///   - request: the request, as it will be sent.
    ///   - date: the time of signing.
    /// - Throws: `TransportError`, and errors of the closure.
    public func sign(_ request: inout HTTPRequest, at date: Date) async throws { try await body(&request, date) }
}

extension RequestSigner {
    /// HTTP message signatures (RFC 9421) with HMAC-SHA256 and a shared key.
    ///
    /// ```text
    /// Content-Digest: sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:
    /// Signature-Input: sig1=("@method" "@target-uri" "content-type" "content-digest");created=1618884473;keyid="shop-app"
    /// Signature: sig1=:…:
    /// ```
    /// By default the signature covers the method, the URL, a `Content-Type` if there is one, and a digest of any content
    /// (RFC 9530). The signer adds the digest. A one-shot stream can't be hashed before it is sent, so signing it fails unless
    /// `covering` omits the digest.
    ///
    /// - Parameters:
    ///   - key: the shared key.
    ///   - keyID: the ID by which the server finds the key; none by default.
    ///   - label: the name of the signature, `sig1` by default. Allowed are lower-case letters, digits, `_`, `-`, `.` and `*`.
    ///   - components: the covered components: field names, and `@method`, `@target-uri`, `@authority`, `@scheme`,
    ///     `@request-target`, `@path`, `@query` (RFC 9421 §2.2). `nil` for the default. If `content-digest` is covered, the
    ///     signer adds that field; any other covered field must be present.
    public static func hmacSHA256(
        _ key: SigningKey,
        keyID: String? = nil,
        label: String = "sig1",
        covering components: [String]? = nil
    ) -> Self {
        let signature = HTTPMessageSignature(key, keyID: keyID, label: label, covering: components)
        return Self { try await signature.sign(&$0, at: $1) }
    }

    /// AWS Signature Version 4, which AWS and the many services compatible with S3 require.
    ///
    /// ```swift
    /// .sign(.awsV4(region: "eu-central-1", service: "s3") { credentials })
    /// .sign(.awsV4(region: "us-east-1", service: "execute-api") { try await session.credentials() })
    /// ```
    /// The signature covers every field except those that transports and proxies set. In a query, and in the path of an S3
    /// request, a `+` means a plus sign. It is sent as `%2B`, because some servers would read `+` as a space. A request that
    /// already has an `Authorization` field is sent unsigned.
    ///
    /// - Parameters:
    ///   - region: the region's name, such as `eu-central-1`.
    ///   - service: the service's signing name, such as `s3`, `execute-api` or `dynamodb`.
    ///   - signsBody: whether the signature covers the content; `true` by default. A one-shot stream can't be read in advance,
    ///     so signing it fails. S3 accepts signatures without the content over https.
    ///   - validity: puts the signature into the query, as in a presigned URL, which is valid for this time: whole seconds, from
    ///     one second to a week. Such a signature of an S3 request never covers the content. `nil`, the default, puts it into
    ///     the `Authorization` field.
    ///   - credentials: called for each request, so that temporary credentials can be renewed.
    public static func awsV4(
        region: String,
        service: String,
        signsBody: Bool = true,
        presignedFor validity: Duration? = nil,
        credentials: @escaping @Sendable () async throws -> AWSCredentials
    ) -> Self {
        let signature = AWSSignatureV4(
            region: region,
            service: service,
            signsBody: signsBody,
            validity: validity,
            credentials: credentials
        )
        return Self { try await signature.sign(&$0, at: $1) }
    }
}
