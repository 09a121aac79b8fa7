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
        let endpoint = AnyEndpoint<Value>(path: path, query: query, headerFields: headers, context: context)
        return try await call(endpoint)
    }

    /// Sends a HEAD request and returns the response, whatever its status. The response has no content.
    public func head(
        _ path: RequestTarget,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> HTTPResponse {
        try await send(
            AnyEndpoint<NoContent>(.head, path: path, query: query, headerFields: headers, context: context)
        )
    }
}
