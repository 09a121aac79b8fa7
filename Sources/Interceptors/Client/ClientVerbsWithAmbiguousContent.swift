public import Foundation

// Deprecated, because the compiler skips an unavailable overload silently and picks another; a deprecated overload warns.

/// Bytes or text: types that could be sent as they are, but which an encoder changes. In JSON, `Data` becomes base64 in quotes,
/// and a `String` gets quotes.
///
/// Posting such a value directly is ambiguous, so the compiler warns. ``RequestContent/raw(_:type:)`` sends the bytes
/// unchanged, and ``RequestContent/encoded(_:)`` runs the encoder.
public protocol AmbiguousContent: Encodable, Sendable {}

extension Data: AmbiguousContent {}
extension String: AmbiguousContent {}
extension [UInt8]: AmbiguousContent {}

extension Client {
    /// Sends a POST request with encoded bytes or text, and decodes the response. Ambiguous: see ``AmbiguousContent``.
    @available(*, deprecated, message: "Encoded, as JSON by default: say .encoded(…), or .raw(HTTPBody(…), type: …)")
    public func post<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some AmbiguousContent,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        let content = RequestContent.encoded(body)
        return try await post(path, body: content, as: type, query: query, headers: headers, context: context)
    }

    /// Sends a POST request with encoded bytes or text, and discards the response's content. Ambiguous: see
    /// ``AmbiguousContent``.
    @available(*, deprecated, message: "Encoded, as JSON by default: say .encoded(…), or .raw(HTTPBody(…), type: …)")
    public func post(
        _ path: RequestTarget,
        body: some AmbiguousContent,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        try await post(path, body: RequestContent.encoded(body), query: query, headers: headers, context: context)
    }

    /// Sends a PUT request with encoded bytes or text, and decodes the response. Ambiguous: see ``AmbiguousContent``.
    @available(*, deprecated, message: "Encoded, as JSON by default: say .encoded(…), or .raw(HTTPBody(…), type: …)")
    public func put<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some AmbiguousContent,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        let content = RequestContent.encoded(body)
        return try await put(path, body: content, as: type, query: query, headers: headers, context: context)
    }

    /// Sends a PUT request with encoded bytes or text, and discards the response's content. Ambiguous: see
    /// ``AmbiguousContent``.
    @available(*, deprecated, message: "Encoded, as JSON by default: say .encoded(…), or .raw(HTTPBody(…), type: …)")
    public func put(
        _ path: RequestTarget,
        body: some AmbiguousContent,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        try await put(path, body: RequestContent.encoded(body), query: query, headers: headers, context: context)
    }

    /// Sends a PATCH request with encoded bytes or text, and decodes the response. Ambiguous: see ``AmbiguousContent``.
    @available(*, deprecated, message: "Encoded, as JSON by default: say .encoded(…), or .raw(HTTPBody(…), type: …)")
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some AmbiguousContent,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        let content = RequestContent.encoded(body)
        return try await patch(path, body: content, as: type, query: query, headers: headers, context: context)
    }

    /// Sends a PATCH request with encoded bytes or text, and discards the response's content. Ambiguous: see
    /// ``AmbiguousContent``.
    @available(*, deprecated, message: "Encoded, as JSON by default: say .encoded(…), or .raw(HTTPBody(…), type: …)")
    public func patch(
        _ path: RequestTarget,
        body: some AmbiguousContent,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        try await patch(path, body: RequestContent.encoded(body), query: query, headers: headers, context: context)
    }
}
