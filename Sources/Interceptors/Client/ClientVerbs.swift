extension Client {
    /// GET, decoded.
    ///
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - type: what the response decodes to, where the context doesn't tell.
    ///   - query: goes after the query that the path may have.
    ///   - headers: go over the chain's defaults.
    ///   - context: what travels with the request but not over the wire, such as its timeouts.
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

    /// HEAD: the response without content, whatever its status.
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
