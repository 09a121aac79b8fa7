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
        try await response(path, as: type, query: query, headers: headers, context: context).value
    }

    /// Sends a GET request and discards the response's content.
    public func get(
        _ path: RequestTarget,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        _ = try await get(path, as: NoContent.self, query: query, headers: headers, context: context)
    }

    /// Sends a GET request, and returns the decoded value with its response: status, fields, `HTTPContext`.
    ///
    /// ```swift
    /// let (films, response) = try await api.response("/films", as: [Film].self)
    /// let total = response.headers["X-Total-Count"]
    /// ```
    /// The parameters are those of ``get(_:as:query:headers:context:)-(RequestTarget,_,_,_,_)``.
    ///
    /// - Throws: as that method does, ``ResponseDecodingError`` included. The body of
    ///   a streamed response is used up.
    public func response<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> (value: Value, response: HTTPResponse) {
        let request = EndpointRequest<Value>.get(path, query: query, headers: headers, context: context)
        return try await response(to: try await makeRequest(request), as: type)
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

// No overload takes a `String`: a literal with a value that isn't a ``URLValue`` would become one, without encoding.
extension Client {
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

    /// Sends a GET request to a URL, and returns the decoded value with its response. Its parameters are those of
    /// ``get(_:as:query:headers:context:)-(URL,_,_,_,_)``.
    public func response<Value: Decodable & Sendable>(
        _ url: URL,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> (value: Value, response: HTTPResponse) {
        try await response(RequestTarget(url), as: type, query: query, headers: headers, context: context)
    }
}

extension Client {
    /// Sends POST requests with a value or with content: `try await api.post("/films", body: film)`.
    public var post: Verb { Verb(client: self, method: .post) }
    /// Sends PUT requests with a value or with content: `try await api.put("/films/42", body: film)`.
    public var put: Verb { Verb(client: self, method: .put) }
    /// Sends PATCH requests with a value or with content: `try await api.patch("/films/42", body: changes)`.
    public var patch: Verb { Verb(client: self, method: .patch) }
    /// Sends DELETE requests, which rarely have content: `try await api.delete("/films/42")`.
    public var delete: Verb { Verb(client: self, method: .delete) }

    /// A method that may have content, to be called like a function: ``Client/post``, ``Client/put``, ``Client/patch`` and
    /// ``Client/delete``.
    ///
    /// A call has four forms: an encoded value or given content, and a decoded response or none.
    public struct Verb: Sendable {
        let client: Client
        let method: HTTPRequest.Method

        /// Sends a request with a value, and decodes the response.
        ///
        /// ```swift
        /// let created: Film = try await api.post("/films", body: film)
        /// ```
        /// - Parameters:
        ///   - path: a path below the base URL, or an absolute URL.
        ///   - body: encoded by the client's encoder, off the caller's actor. `Data` is sent as it is, and a `String` as plain text
        ///     in UTF-8, as ``Client/get(_:as:query:headers:context:)-(RequestTarget,_,_,_,_)`` returns them.
        ///   - type: the type to decode, if the context doesn't determine it.
        ///   - query: appended to any query in the path.
        ///   - headers: take precedence over the chain's defaults.
        ///   - context: values that accompany the request but aren't sent, such as its timeouts.
        ///   - progress: called as the content is sent, from any thread. It replaces the context's.
        public func callAsFunction<Value: Decodable & Sendable>(
            _ path: RequestTarget,
            body: some Encodable & Sendable,
            as type: Value.Type = Value.self,
            query: HTTPQuery = HTTPQuery(),
            headers: HTTPFields = HTTPFields(),
            context: HTTPContext = HTTPContext(),
            progress: (@Sendable (TransferProgress) -> Void)? = nil
        ) async throws -> Value {
            try await call(path, .value(body), as: type, query, headers, context, progress)
        }

        /// Sends a request with a value, and discards the response's content.
        public func callAsFunction(
            _ path: RequestTarget,
            body: some Encodable & Sendable,
            query: HTTPQuery = HTTPQuery(),
            headers: HTTPFields = HTTPFields(),
            context: HTTPContext = HTTPContext(),
            progress: (@Sendable (TransferProgress) -> Void)? = nil
        ) async throws {
            _ = try await call(path, .value(body), as: NoContent.self, query, headers, context, progress)
        }

        /// Sends a request with the given content, if any, and decodes the response.
        ///
        /// ```swift
        /// let photo: Photo = try await api.post("/photos", body: .multipart([.file(name: "photo", at: file)])) { progress in
        ///     print(progress.completed, progress.total ?? 0)
        /// }
        /// ```
        /// - Parameters:
        ///   - path: a path below the base URL, or an absolute URL.
        ///   - body: the content with its media type: a form, a file, bytes, a JSON object.
        ///   - type: the type to decode, if the context doesn't determine it.
        ///   - query: appended to any query in the path.
        ///   - headers: take precedence over the chain's defaults.
        ///   - context: values that accompany the request but aren't sent, such as its timeouts.
        ///   - progress: called as the content is sent, from any thread. It replaces the context's.
        public func callAsFunction<Value: Decodable & Sendable>(
            _ path: RequestTarget,
            body: RequestBody? = nil,
            as type: Value.Type = Value.self,
            query: HTTPQuery = HTTPQuery(),
            headers: HTTPFields = HTTPFields(),
            context: HTTPContext = HTTPContext(),
            progress: (@Sendable (TransferProgress) -> Void)? = nil
        ) async throws -> Value {
            try await call(path, body, as: type, query, headers, context, progress)
        }

        /// Sends a request with the given content, if any, and discards the response's content.
        public func callAsFunction(
            _ path: RequestTarget,
            body: RequestBody? = nil,
            query: HTTPQuery = HTTPQuery(),
            headers: HTTPFields = HTTPFields(),
            context: HTTPContext = HTTPContext(),
            progress: (@Sendable (TransferProgress) -> Void)? = nil
        ) async throws {
            _ = try await call(path, body, as: NoContent.self, query, headers, context, progress)
        }

        private func call<Value: Decodable & Sendable>(
            _ path: RequestTarget,
            _ body: RequestBody?,
            as type: Value.Type,
            _ query: HTTPQuery,
            _ headers: HTTPFields,
            _ context: HTTPContext,
            _ progress: (@Sendable (TransferProgress) -> Void)?
        ) async throws -> Value {
            var context = context
            if let progress { context.uploadProgress = progress }
            let verb = EndpointRequest<Value>.Verb(method: method)
            let parts = verb(path, body: body, query: query, headers: headers, context: context)
            return try await client.response(to: try await client.makeRequest(parts), as: type).value
        }
    }
}
