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
        let request = EndpointRequest<Value>.get(path, query: query, headers: headers, context: context)
        return try await response(to: try await makeRequest(request), as: type)
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
    /// let creation: EndpointRequest<Film> = .post("/films", body: film)
    /// let (created, response) = try await api.response(to: creation)
    /// print(response.headerFields[.location] ?? "")
    /// ```
    public func response<E: Endpoint>(to endpoint: E) async throws -> (value: E.Response, response: HTTPResponse) {
        try await response(to: try await request(for: endpoint), as: E.Response.self)
    }
}
