internal import Foundation
internal import Interceptors

#if canImport(FoundationNetworking)
internal import FoundationNetworking
internal import InterceptorsURLSession
#endif

/// Decides whether the system's session can send in place of a client's transport, and which requests.
///
/// A background session has a connection, a configuration and a delegate of the system. Settings that it can't honor are refused.
struct SessionReplacement: Sendable {
    /// The fields that a redirect may carry to another origin, although they are bound to theirs.
    let fieldsOnRedirects: Set<HTTPField.Name>
    /// Decides which fields are bound to their origin.
    let redaction: Redaction
    /// The TLS settings of the client's transport.
    let tls: TLSConfiguration

    /// - Throws: ``TransferError`` with `unsupported` if the session can't replace the client's transport.
    init(of client: Client, fieldsOnRedirects: Set<HTTPField.Name> = []) throws(TransferError) {
        let ends = client.ends
        guard ends.count == 1, let end = ends.first as? any TLSConfiguredTransport else {
            let names = ends.map { "\(type(of: $0))" }.sorted().joined(separator: ", ")
            throw Self.refusal(of: "the client's transport (\(names))")
        }
        self.fieldsOnRedirects = fieldsOnRedirects
        redaction = client.chain.redirectRedaction
        tls = end.tls
        if let settings = tls.settingsBeyondSystem { throw Self.refusal(of: "TLS settings (\(settings))") }
        if let transport = end as? URLSessionTransport { try check(transport.configured(.ephemeral)) }
    }

    private static func refusal(of settings: String) -> TransferError {
        let remedy = "Use a client that sends over .platform() without them, or the session .inProcess()."
        let message = "A background session can't apply \(settings), and doesn't ignore them. \(remedy)"
        return TransferError(.unsupported, message)
    }

    private func check(_ configuration: URLSessionConfiguration) throws(TransferError) {
        let (classes, usual) = (configuration.protocolClasses, URLSessionConfiguration.ephemeral.protocolClasses)
        guard classes?.map(ObjectIdentifier.init) == usual?.map(ObjectIdentifier.init) else {
            throw Self.refusal(of: "the protocolClasses of the transport's configuration")
        }
        let names = (configuration.httpAdditionalHeaders ?? [:]).keys.map { "\($0)" }
        // The system decides whether a redirect gets them, so even `Authorization` may be sent along.
        let bound = names.filter { HTTPField.Name($0).map(redaction.isBoundToOrigin) ?? true }.sorted()
        guard bound.isEmpty else {
            throw Self.refusal(of: "the httpAdditionalHeaders \(bound.joined(separator: ", "))")
        }
    }

    /// Throws if the session would send a request without TLS, or its credentials to another origin after a redirect.
    func check(_ request: HTTPRequest) throws {
        try tls.checkScheme(request)
        // URLSession itself removes `Authorization`.
        let bound = request.headers.map(\.name)
            .filter { $0 != .authorization && redaction.isBoundToOrigin($0) && !fieldsOnRedirects.contains($0) }
        guard bound.isEmpty else {
            let names = Set(bound.map(\.rawName)).sorted().joined(separator: ", ")
            let message =
                "A background session follows redirects without asking, and would send \(names) to any origin. Send the"
                + " credential in Authorization, or allow the fields: .system(fieldsOnRedirects:)."
            throw TransferError(.unsupported, message, request: request)
        }
    }
}
