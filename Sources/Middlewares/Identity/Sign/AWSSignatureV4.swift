internal import Foundation
internal import InterceptorsSyntax

/// AWS Signature Version 4: the signer of `.awsV4(…)`.
struct AWSSignatureV4: Sendable {
    let region: String
    let service: String
    let signsBody: Bool
    private let validity: Duration?
    private let credentials: @Sendable () async throws -> AWSCredentials
    var pathRules: AWSCanonicalRequest.PathRules

    init(
        region: String,
        service: String,
        signsBody: Bool = true,
        presignedFor validity: Duration? = nil,
        credentials: @escaping @Sendable () async throws -> AWSCredentials
    ) {
        self.region = region
        self.service = service
        self.signsBody = signsBody
        self.validity = validity
        self.credentials = credentials
        pathRules = Self.isS3(service) ? .s3 : .standard
    }

    func sign(_ request: inout HTTPRequest, at date: Date) async throws {
        guard !request.headerFields.contains(.authorization) else { return }
        let credentials = try await credentials()
        let stamp = Self.stamp(date)
        let scope = "\(stamp.prefix(8))/\(region)/\(service)/aws4_request"
        encodePluses(in: &request)
        if let validity {
            try await signQuery(of: &request, credentials, stamp, scope, validity)
        } else {
            try await signHeader(of: &request, credentials, stamp, scope)
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
