extension Client {
    /// POST of a value that the encoder encodes, decoded.
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

    /// POST of a value that the encoder encodes; the content of the response is discarded.
    public func post(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.post, path, .encoded(body), as: NoContent.self, query, headers, context)
    }

    /// POST, decoded.
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

    /// POST; the content of the response is discarded.
    public func post(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.post, path, body, as: NoContent.self, query, headers, context)
    }

    /// PUT of a value that the encoder encodes, decoded.
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

    /// PUT of a value that the encoder encodes; the content of the response is discarded.
    public func put(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.put, path, .encoded(body), as: NoContent.self, query, headers, context)
    }

    /// PUT, decoded.
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

    /// PUT; the content of the response is discarded.
    public func put(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.put, path, body, as: NoContent.self, query, headers, context)
    }

    /// PATCH of a value that the encoder encodes, decoded.
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

    /// PATCH of a value that the encoder encodes; the content of the response is discarded.
    public func patch(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.patch, path, .encoded(body), as: NoContent.self, query, headers, context)
    }

    /// PATCH, decoded.
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

    /// PATCH; the content of the response is discarded.
    public func patch(
        _ path: RequestTarget,
        body: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await call(.patch, path, body, as: NoContent.self, query, headers, context)
    }

    /// DELETE, decoded.
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

    /// DELETE; the content of the response is discarded.
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
