public import Foundation

extension Client {
    /// Sends a GET request and decodes the response.
    ///
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - type: the type to decode, if the context doesn't determine it.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany the request but aren't sent, such as its timeouts.
    public func get<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await call(verb: .get(path, query: query, headers: headers, context: context))
    }

    /// Sends a GET request and discards the response's content.
    public func get(
        _ path: RequestTarget,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        try await call(verb: EndpointRequest<NoContent>.get(path, query: query, headers: headers, context: context))
    }

    // No overload takes a `String`: a literal with a value that isn't a ``URLValue`` would become one, without encoding.

    /// Sends a GET request to a URL, and decodes the response.
    ///
    /// - Parameters:
    ///   - url: an absolute URL, or a relative one, which is a path below the base URL.
    ///   - type: the type to decode, if the context doesn't determine it.
    ///   - query: appended to any query in the URL.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany the request but aren't sent, such as its timeouts.
    public func get<Value: Decodable & Sendable>(
        _ url: URL,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await get(RequestTarget(url), as: type, query: query, headers: headers, context: context)
    }

    /// Sends a GET request to a URL, and discards the response's content. Its parameters are those of
    /// ``get(_:as:query:headers:context:)-(URL,_,_,_,_)``.
    public func get(
        _ url: URL,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        try await get(RequestTarget(url), query: query, headers: headers, context: context)
    }

    /// Sends a HEAD request and returns the response, whatever its status. The response has no content.
    ///
    /// The parameters are those of ``get(_:as:query:headers:context:)-(RequestTarget,_,_,_,_)``.
    public func head(
        _ path: RequestTarget,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> HTTPResponse {
        let request = EndpointRequest<NoContent>(.head, path, query: query, headers: headers, context: context)
        return try await send(try await makeRequest(request))
    }
}
