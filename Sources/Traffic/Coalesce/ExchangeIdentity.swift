internal import Foundation
internal import InterceptorsSyntax

/// All properties of a request that could affect its response. Requests with equal identities may share an exchange.
struct ExchangeIdentity: Sendable, Hashable {
    // Compared as bytes, because `String` treats different encodings of the same character as equal.
    private struct Field: Sendable, Hashable {
        let name: [UInt8]
        let values: [[UInt8]]
    }

    private let url: [UInt8]
    private let fields: [Field]
    private let responseBody: ResponseBodyMode
    private let timeouts: Timeouts?
    private let clientOrigin: Origin?
    private let cacheMode: CacheMode
    private let caller: Caller
    private let authorization: AuthorizationMode
    private let followsRedirects: Bool
    private let network: NetworkRequirements
    private let apart: String?

    /// The identity of a request; `nil` if the request never shares: if it isn't a GET, has content, or asks for a streamed
    /// response, for progress or for interim responses.
    ///
    /// - Parameters:
    ///   - ignored: names of fields that don't affect the response. Fields that tell callers apart always count.
    ///     `Proxy-Authorization` counts unless it is named: without it, a proxy may respond with a 407.
    ///   - apart: a further value that must be equal.
    init?(of request: borrowing HTTPRequest, ignoring ignored: Set<HTTPField.Name>, apart: String? = nil) {
        guard request.method == .get, request.body.isEmpty, request.context.responseBody.bufferLimit != nil,
            request.context.downloadProgress == nil, request.context.uploadProgress == nil,
            request.context.interim == nil
        else { return nil }
        // The fragment isn't sent (RFC 9110 §4.2.5).
        url = Array(request.url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") })
        fields = Self.fields(of: request.headers, ignoring: ignored)
        responseBody = request.context.responseBody
        timeouts = request.context.timeouts
        clientOrigin = request.context.clientOrigin
        cacheMode = request.context.cacheMode
        caller = request.caller
        authorization = request.context.authorization
        // The content of a followed redirect may be missing.
        followsRedirects = request.context.followsRedirects
        // A request that excludes networks may wait for one, or fail where the other wouldn't.
        network = request.context.network
        self.apart = apart
    }

    // The order of fields with different names is irrelevant; the order of one name's values isn't (RFC 9110 §5.3).
    private static func fields(of fields: HTTPFields, ignoring ignored: Set<HTTPField.Name>) -> [Field] {
        var values: [[UInt8]: [[UInt8]]] = [:]
        // A credential is never ignored, or two users could share a response.
        for field in fields where !ignored.contains(field.name) || field.name.identifiesCaller {
            values[field.name.rawName.utf8.map(ASCII.lowercased), default: []].append(Array(field.value.utf8))
        }
        return values.map { Field(name: $0, values: $1) }.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }
}
