public import Foundation
internal import HTTPSyntax

/// AWS Signature Version 4, which AWS and the many services compatible with S3 require.
///
/// ```swift
/// .sign(.awsV4(region: "eu-central-1", service: "s3", credentials: credentials))
/// .sign(.awsV4(region: "us-east-1", service: "execute-api") { try await session.credentials() })
/// ```
/// The signature covers every field except those that transports and proxies set. In a query, and in the path of an S3
/// request, a `+` means a plus sign. It is sent as `%2B`, because some servers would read `+` as a space. A request that
/// already has an `Authorization` field is sent unsigned.
public struct AWSSignatureV4: RequestSigner {
    /// Whether the signature covers the content.
    ///
    /// A signature in the query of an S3 request never covers the content.
    public enum Payload: Sendable, Hashable {
        /// The signature covers the content. A one-shot stream can't be read in advance, so signing it fails.
        case signed
        /// The signature doesn't cover the content. S3 accepts such signatures over https.
        case unsigned
    }

    /// The part of the request that carries the signature.
    public enum Placement: Sendable, Hashable {
        /// The `Authorization` field.
        case header
        /// The query, as in a presigned URL, which is valid for the given time: whole seconds, from one second to a week.
        case query(expires: Duration)
    }

    let region: String
    let service: String
    let payload: Payload
    private let placement: Placement
    private let credentials: @Sendable () async throws -> AWSCredentials
    var pathRules: AWSCanonicalRequest.PathRules

    /// Creates a signer for one service in one region.
    ///
    /// - Parameters:
    ///   - region: the region's name, such as `eu-central-1`.
    ///   - service: the service's signing name, such as `s3`, `execute-api` or `dynamodb`.
    ///   - payload: whether the signature covers the content; by default it does.
    ///   - placement: the part of the request that carries the signature, by default the `Authorization` field.
    ///   - credentials: called for each request, so that temporary credentials can be renewed.
    public init(
        region: String,
        service: String,
        payload: Payload = .signed,
        placement: Placement = .header,
        credentials: @escaping @Sendable () async throws -> AWSCredentials
    ) {
        self.region = region
        self.service = service
        self.payload = payload
        self.placement = placement
        self.credentials = credentials
        pathRules = Self.isS3(service) ? .s3 : .standard
    }

    /// Adds the signature, its date and, for temporary credentials, the session token.
    ///
    /// - Throws: ``SigningError``; errors of the credentials' closure.
    public func sign(_ request: inout HTTPRequest, at date: Date) async throws {
        guard !request.headerFields.contains(.authorization) else { return }
        let credentials = try await credentials()
        let stamp = Self.stamp(date)
        let scope = "\(stamp.prefix(8))/\(region)/\(service)/aws4_request"
        encodePluses(in: &request)
        switch placement {
        case .header:
            try await signHeader(of: &request, credentials, stamp, scope)
        case .query(let expires):
            try await signQuery(of: &request, credentials, stamp, scope, expires)
        }
    }

    static func isS3(_ service: String) -> Bool {
        ["s3", "s3express", "s3-object-lambda", "s3-outposts"].contains(service)
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
        let path = Self.isS3(service) && parts.percentEncodedPath.utf8.contains(plus) ? parts.percentEncodedPath : nil
        guard query != nil || path != nil else { return }
        if let query { parts.percentEncodedQuery = query.replacing("+", with: "%2B") }
        if let path { parts.percentEncodedPath = path.replacing("+", with: "%2B") }
        if let url = parts.url { request.url = url }
    }
}

extension RequestSigner where Self == AWSSignatureV4 {
    /// AWS Signature Version 4. See ``AWSSignatureV4``, and its initialiser for the parameters.
    public static func awsV4(
        region: String,
        service: String,
        payload: AWSSignatureV4.Payload = .signed,
        placement: AWSSignatureV4.Placement = .header,
        credentials: AWSCredentials
    ) -> Self {
        Self(region: region, service: service, payload: payload, placement: placement) { credentials }
    }

    /// AWS Signature Version 4, with a closure that returns the credentials for each request. See ``AWSSignatureV4``.
    public static func awsV4(
        region: String,
        service: String,
        payload: AWSSignatureV4.Payload = .signed,
        placement: AWSSignatureV4.Placement = .header,
        credentials: @escaping @Sendable () async throws -> AWSCredentials
    ) -> Self {
        Self(region: region, service: service, payload: payload, placement: placement, credentials: credentials)
    }
}
