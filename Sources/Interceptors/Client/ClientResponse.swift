public import Foundation

extension Client {
    /// Sends a GET request, and returns the decoded value with its response: status, fields, `HTTPContext`.
    ///
    /// ```swift
    /// let (films, response) = try await api.response("/films", as: [Film].self)
    /// let total = response.headerFields["X-Total-Count"]
    /// ```
    /// The parameters are those of ``get(_:as:query:headers:context:)-(RequestTarget,_,_,_,_)``.
    ///
    /// - Throws: as that method does, ``DecodingFailure`` included. The body of
    ///   a streamed response is used up.
    public func response<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws -> (value: Value, response: HTTPResponse) {
        let endpoint = AnyEndpoint<Value>(path: path, query: query, headerFields: headers, context: context)
        return try await response(to: endpoint, as: type, isVerb: true)
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

    /// Sends an endpoint's request, and returns the decoded value with its response.
    ///
    /// ```swift
    /// let creation = AnyEndpoint<Film>(.post, path: "/films", content: .encoded(film))
    /// let (created, response) = try await api.response(to: creation)
    /// print(response.headerFields[.location] ?? "")
    /// ```
    public func response<E: Endpoint>(to endpoint: E) async throws -> (value: E.Response, response: HTTPResponse) {
        try await response(to: endpoint, as: E.Response.self)
    }

    /// Sends a GET request and writes the response's content to a file as it arrives, with little memory.
    ///
    /// ```swift
    /// try await api.download("/films/42.mp4", to: file) { progress in
    ///     print(progress.completed, progress.total ?? 0)
    /// }
    /// ```
    /// The file appears when it is complete, and replaces an earlier one: see `HTTPBody.write(to:upTo:)`.
    ///
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - file: the destination. Its folder must exist.
    ///   - limit: the maximum number of bytes. By default the file system is the only limit.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany the request. Its `HTTPContext.responseBody` is replaced.
    ///   - progress: called as the content arrives, from any thread. It replaces the context's.
    /// - Returns: the response, whose body is used up.
    /// - Throws: ``DecodingFailure`` if the status isn't a success, and otherwise as `HTTPBody.write(to:upTo:)` does.
    @discardableResult
    public func download(
        _ path: RequestTarget,
        to file: URL,
        upTo limit: Int64 = .max,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPResponse {
        var context = context
        context.responseBody = .streamed
        if let progress { context.downloadProgress = progress }
        let endpoint = AnyEndpoint<Data>(path: path, query: query, headerFields: headers, context: context)
        let request = try await request(for: endpoint, isVerb: true)
        let (method, url) = (request.method, request.url)
        let response = try await send(request)
        try await ResponseDecoding(decoder: decoder, method: method, url: url).checkStatus(of: response, as: Data.self)
        try await response.body.write(to: file, upTo: limit)
        return response
    }

    /// Sends a GET request to a URL, and writes the response's content to a file. Its other parameters are those of
    /// ``get(_:as:query:headers:context:)-(URL,_,_,_,_)`` and of the method for a path.
    @discardableResult
    public func download(
        _ url: URL,
        to file: URL,
        upTo limit: Int64 = .max,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPResponse {
        try await download(
            RequestTarget(url),
            to: file,
            upTo: limit,
            query: query,
            headers: headers,
            context: context,
            progress: progress
        )
    }
}
