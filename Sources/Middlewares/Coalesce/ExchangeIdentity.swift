internal import Foundation

/// What must be the same for two requests to share an exchange: whatever could make their answers differ.
struct ExchangeIdentity: Sendable, Hashable {
    // By bytes: a String takes é for e with an accent.
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
    private let apart: String?

    /// The identity of a request; `nil` if it shares with none: it is no GET, has content or wants its response as a stream
    /// or its progress told.
    ///
    /// - Parameters:
    ///   - ignored: names of fields that make no difference, unless they are sensitive.
    ///   - apart: what else makes one.
    init?(of request: borrowing HTTPRequest, ignoring ignored: Set<HTTPField.Name>, apart: String? = nil) {
        guard request.method == .get, request.body.isEmpty, request.context.responseBody.bufferLimit != nil,
            request.context.downloadProgress == nil, request.context.uploadProgress == nil
        else { return nil }
        // A fragment is not sent (RFC 9110 §4.2.5).
        url = Array(request.url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") })
        fields = Self.fields(of: request.headerFields, ignoring: ignored)
        responseBody = request.context.responseBody
        timeouts = request.context.timeouts
        clientOrigin = request.context.clientOrigin
        cacheMode = request.context.cacheMode
        caller = request.caller
        authorization = request.context.authorization
        self.apart = apart
    }

    // The order of different names makes no difference, that of the values of one does (RFC 9110 §5.3).
    private static func fields(of fields: HTTPFields, ignoring ignored: Set<HTTPField.Name>) -> [Field] {
        var values: [[UInt8]: [[UInt8]]] = [:]
        // A credential is never ignored: two users would share a response.
        for field in fields where !ignored.contains(field.name) || Redaction.standard.isSensitive(field.name) {
            values[field.name.rawName.utf8.map(ASCII.lowercased), default: []].append(Array(field.value.utf8))
        }
        return values.map { Field(name: $0, values: $1) }.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }
}
