public import Foundation

// Of an overload that is unavailable, the compiler takes another one instead: only one that is deprecated is heard of.

/// What is bytes or text already, and of which an encoder makes something else: in JSON, `Data` becomes base64 in quotes, and a
/// `String` gets quotes.
///
/// Where it is posted without a word of what is meant, the compiler warns: ``RequestContent/raw(_:type:)`` sends it as it is,
/// ``RequestContent/encoded(_:)`` what the encoder makes of it.
public protocol AmbiguousContent: Encodable, Sendable {}

extension Data: AmbiguousContent {}
extension String: AmbiguousContent {}
extension [UInt8]: AmbiguousContent {}

extension Client {
    /// POST of what the encoder makes of bytes or text, decoded: see ``AmbiguousContent``.
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

    /// POST of what the encoder makes of bytes or text; the content of the response is discarded: see ``AmbiguousContent``.
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

    /// PUT of what the encoder makes of bytes or text, decoded: see ``AmbiguousContent``.
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

    /// PUT of what the encoder makes of bytes or text; the content of the response is discarded: see ``AmbiguousContent``.
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

    /// PATCH of what the encoder makes of bytes or text, decoded: see ``AmbiguousContent``.
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

    /// PATCH of what the encoder makes of bytes or text; the content of the response is discarded: see ``AmbiguousContent``.
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
