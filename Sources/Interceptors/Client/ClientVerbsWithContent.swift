// Each verb has four forms: an encoded value or given content, and a decoded response or none.

extension Client {
    /// Sends a POST request with a value, and decodes the response.
    ///
    /// ```swift
    /// let created: Film = try await api.post("/films", body: film)
    /// ```
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - body: encoded by the client's encoder, off the caller's actor. `Data` is sent as it is, and a `String` as plain text
    ///     in UTF-8, as ``get(_:as:query:headers:context:)-(RequestTarget,_,_,_,_)`` returns them.
    ///   - type: the type to decode, if the context doesn't determine it.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany the request but aren't sent, such as its timeouts.
    ///   - progress: called as the content is sent, from any thread. It replaces the context's.
    public func post<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Value {
        try await call(.post, path, .value(body), as: type, query, headers, context, progress)
    }

    /// Sends a POST request with a value, and discards the response's content.
    public func post(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws {
        _ = try await call(.post, path, .value(body), as: NoContent.self, query, headers, context, progress)
    }

    /// Sends a POST request with the given content, if any, and decodes the response.
    ///
    /// ```swift
    /// let photo: Photo = try await api.post("/photos", content: .multipart([.file(name: "photo", at: file)])) { progress in
    ///     print(progress.completed, progress.total ?? 0)
    /// }
    /// ```
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - content: the content with its media type: a form, a file, bytes, a JSON object.
    ///   - type: the type to decode, if the context doesn't determine it.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany the request but aren't sent, such as its timeouts.
    ///   - progress: called as the content is sent, from any thread. It replaces the context's.
    public func post<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        content: RequestContent? = nil,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Value {
        try await call(.post, path, content, as: type, query, headers, context, progress)
    }

    /// Sends a POST request with the given content, if any, and discards the response's content.
    public func post(
        _ path: RequestTarget,
        content: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws {
        _ = try await call(.post, path, content, as: NoContent.self, query, headers, context, progress)
    }

    /// Sends a PUT request with a value, and decodes the response. Its parameters are those of
    /// ``post(_:body:as:query:headers:context:progress:)``.
    public func put<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Value {
        try await call(.put, path, .value(body), as: type, query, headers, context, progress)
    }

    /// Sends a PUT request with a value, and discards the response's content. Its parameters are those of
    /// ``post(_:body:query:headers:context:progress:)``.
    public func put(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws {
        _ = try await call(.put, path, .value(body), as: NoContent.self, query, headers, context, progress)
    }

    /// Sends a PUT request with the given content, if any, and decodes the response. Its parameters are those of
    /// ``post(_:content:as:query:headers:context:progress:)``.
    public func put<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        content: RequestContent? = nil,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Value {
        try await call(.put, path, content, as: type, query, headers, context, progress)
    }

    /// Sends a PUT request with the given content, if any, and discards the response's content. Its parameters are those of
    /// ``post(_:content:query:headers:context:progress:)``.
    public func put(
        _ path: RequestTarget,
        content: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws {
        _ = try await call(.put, path, content, as: NoContent.self, query, headers, context, progress)
    }

    /// Sends a PATCH request with a value, and decodes the response. Its parameters are those of
    /// ``post(_:body:as:query:headers:context:progress:)``.
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Value {
        try await call(.patch, path, .value(body), as: type, query, headers, context, progress)
    }

    /// Sends a PATCH request with a value, and discards the response's content. Its parameters are those of
    /// ``post(_:body:query:headers:context:progress:)``.
    public func patch(
        _ path: RequestTarget,
        body: some Encodable & Sendable,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws {
        _ = try await call(.patch, path, .value(body), as: NoContent.self, query, headers, context, progress)
    }

    /// Sends a PATCH request with the given content, if any, and decodes the response. Its parameters are those of
    /// ``post(_:content:as:query:headers:context:progress:)``.
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        content: RequestContent? = nil,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Value {
        try await call(.patch, path, content, as: type, query, headers, context, progress)
    }

    /// Sends a PATCH request with the given content, if any, and discards the response's content. Its parameters are those of
    /// ``post(_:content:query:headers:context:progress:)``.
    public func patch(
        _ path: RequestTarget,
        content: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws {
        _ = try await call(.patch, path, content, as: NoContent.self, query, headers, context, progress)
    }

    /// Sends a DELETE request with the given content, if any, and decodes the response. Its parameters are those of
    /// ``post(_:content:as:query:headers:context:progress:)``.
    public func delete<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        content: RequestContent? = nil,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Value {
        try await call(.delete, path, content, as: type, query, headers, context, progress)
    }

    /// Sends a DELETE request with the given content, if any, and discards the response's content. Its parameters are those of
    /// ``post(_:content:query:headers:context:progress:)``.
    public func delete(
        _ path: RequestTarget,
        content: RequestContent? = nil,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws {
        _ = try await call(.delete, path, content, as: NoContent.self, query, headers, context, progress)
    }

    private func call<Value: Decodable & Sendable>(
        _ method: HTTPRequest.Method,
        _ path: RequestTarget,
        _ content: RequestContent?,
        as type: Value.Type,
        _ query: HTTPQuery,
        _ headers: HTTPFields,
        _ context: HTTPContext,
        _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> Value {
        var request = EndpointRequest<Value>(
            method,
            path,
            query: query,
            headers: headers,
            content: content,
            context: context
        )
        if let progress { request.context.uploadProgress = progress }
        return try await call(verb: request)
    }
}
