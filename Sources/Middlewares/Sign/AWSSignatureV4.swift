public import Foundation

/// AWS Signature Version 4: what AWS's services, and the many that speak S3, ask of a request.
///
/// ```swift
/// .sign(.awsV4(region: "eu-central-1", service: "s3", credentials: credentials))
/// .sign(.awsV4(region: "us-east-1", service: "execute-api") { try await session.credentials() })
/// ```
/// Every field is signed but those that a transport or a proxy sets. A `+` in a query, and in the path of a request to S3,
/// means a plus sign, and is sent as `%2B`, so that it means the same to everyone. A request that has an `Authorization` field of its own keeps it, unsigned.
public struct AWSSignatureV4: RequestSigner {
    /// Whether the signature covers the content.
    public enum Payload: Sendable, Hashable {
        /// It does. A one-shot stream, which can't be read beforehand, is refused.
        case signed
        /// It doesn't: S3 takes that, of any body, over https.
        case unsigned
    }

    /// Where the signature goes.
    public enum Placement: Sendable, Hashable {
        /// Into `Authorization`.
        case header
        /// Into the query, as in a presigned URL that is valid for so long: whole seconds, a week at most.
        case query(expires: Duration)
    }

    let region: String
    let service: String
    let payload: Payload
    private let placement: Placement
    private let credentials: @Sendable () async throws -> AWSCredentials
    var pathRules: AWSCanonicalRequest.PathRules

    /// A signer for one service in one region.
    ///
    /// - Parameters:
    ///   - region: such as `eu-central-1`.
    ///   - service: its signing name, such as `s3`, `execute-api` or `dynamodb`.
    ///   - payload: whether the content is signed too.
    ///   - placement: where the signature goes.
    ///   - credentials: asked for each request, so that temporary ones can be renewed.
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

    // S3 takes a plus in a path for a space, which others that speak its protocol don't.
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
    /// AWS Signature Version 4: see ``AWSSignatureV4``, and its initialiser for the parameters.
    public static func awsV4(
        region: String,
        service: String,
        payload: AWSSignatureV4.Payload = .signed,
        placement: AWSSignatureV4.Placement = .header,
        credentials: AWSCredentials
    ) -> Self {
        Self(region: region, service: service, payload: payload, placement: placement) { credentials }
    }

    /// AWS Signature Version 4, with credentials that are asked for each request: see ``AWSSignatureV4``.
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
