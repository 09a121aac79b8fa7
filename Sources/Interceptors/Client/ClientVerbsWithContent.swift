extension Client {
    /// Sends a POST request with an encoded value, and decodes the response.
    public func post<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await call(.post, path, .encoded(body), as: type, query, headers, context)
    }

    /// Sends a POST request with an encoded value, and discards the response's content.
    public func post(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.post, path, .encoded(body), as: NoContent.self, query, headers, context)
    }

    /// Sends a POST request with the given content, if any, and decodes the response.
    public func post<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await call(.post, path, body, as: type, query, headers, context)
    }

    /// Sends a POST request with the given content, if any, and discards the response's content.
    public func post(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.post, path, body, as: NoContent.self, query, headers, context)
    }

    /// Sends a PUT request with an encoded value, and decodes the response.
    public func put<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await call(.put, path, .encoded(body), as: type, query, headers, context)
    }

    /// Sends a PUT request with an encoded value, and discards the response's content.
    public func put(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.put, path, .encoded(body), as: NoContent.self, query, headers, context)
    }

    /// Sends a PUT request with the given content, if any, and decodes the response.
    public func put<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await call(.put, path, body, as: type, query, headers, context)
    }

    /// Sends a PUT request with the given content, if any, and discards the response's content.
    public func put(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.put, path, body, as: NoContent.self, query, headers, context)
    }

    /// Sends a PATCH request with an encoded value, and decodes the response.
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await call(.patch, path, .encoded(body), as: type, query, headers, context)
    }

    /// Sends a PATCH request with an encoded value, and discards the response's content.
    public func patch(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.patch, path, .encoded(body), as: NoContent.self, query, headers, context)
    }

    /// Sends a PATCH request with the given content, if any, and decodes the response.
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await call(.patch, path, body, as: type, query, headers, context)
    }

    /// Sends a PATCH request with the given content, if any, and discards the response's content.
    public func patch(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.patch, path, body, as: NoContent.self, query, headers, context)
    }

    /// Sends a DELETE request with the given content, if any, and decodes the response.
    public func delete<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> Value {
        try await call(.delete, path, body, as: type, query, headers, context)
    }

    /// Sends a DELETE request with the given content, if any, and discards the response's content.
    public func delete(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.delete, path, body, as: NoContent.self, query, headers, context)
    }

    private func call<Value: Decodable & Sendable>(
        _ method: HTTPRequest.Method,
        _ path: RequestTarget,
        _ body: RequestContent?,
        as type: Value.Type,
        _ query: HTTPQuery,
        _ headers: HTTPFields,
        _ context: HTTPContext
    ) async throws -> Value {
        try await call(
            AnyEndpoint<Value>(method, path: path, query: query, headerFields: headers, body: body, context: context)
        )
    }
}
