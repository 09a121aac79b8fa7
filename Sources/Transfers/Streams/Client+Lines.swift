public import Interceptors

extension Client {
    /// The values of a response that holds one JSON value in each line, decoded as they arrive.
    ///
    /// ```swift
    /// for try await film in api.lines("/films/export", as: Film.self) {
    ///     print(film.title)
    /// }
    /// ```
    /// The request is sent when the loop asks for the first value. Lines are read as the loop asks for them, so an export of any
    /// size takes little memory. Leaving the loop closes the connection. If a response breaks off, the loop gets the
    /// complete values first, and then the error.
    ///
    /// A line ends with LF or CRLF; the last line may end with the response. Empty lines are skipped. `String` and `Data` are the text of
    /// each line, the empty ones too, without its ending; JSON isn't decoded.
    ///
    /// Values and text are decoded off the caller's actor. If a value can't be decoded, `ResponseDecodingError` names the number of
    /// its line, counted from 1. UTF-16 and UTF-32 fail with `HTTPErrorCode.unexpectedMediaType`.
    ///
    /// `limitConcurrency` holds its permit until the response ends. Set `HTTPContext.callShape` to `CallShape.liveStream` for lines that
    /// arrive for hours.
    ///
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - type: the type to decode each value as; `String` and `Data` for the text of each line, without its ending.
    ///   - limit: the maximum length of a line in bytes, without its ending; 1 MiB by default. A longer line fails with
    ///     `HTTPErrorCode.bodyTooLarge`.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany the request. Its `HTTPContext.responseBody` is replaced.
    public func lines<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        as type: Value.Type = Value.self,
        upTo limit: Int = 1 << 20,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) -> Lines<Value> {
        lines(from: EndpointRequest<Value>.get(path, query: query, headers: headers, context: context), upTo: limit)
    }

    /// The values of the response to an endpoint's request, which holds one JSON value in each line.
    ///
    /// ```swift
    /// let search: EndpointRequest<Film> = .post("/films/search", body: .json(["title": title]))
    /// for try await film in api.lines(from: search, as: Film.self) { print(film.title) }
    /// ```
    /// Everything else is as in ``lines(_:as:upTo:query:headers:context:)``.
    ///
    /// - Parameters:
    ///   - endpoint: makes the request.
    ///   - type: the type to decode each value as; `String` and `Data` for the text of each line, without its ending.
    ///   - limit: the maximum length of a line in bytes, 1 MiB by default.
    public func lines<Value: Decodable & Sendable>(
        from endpoint: some Endpoint,
        as type: Value.Type = Value.self,
        upTo limit: Int = 1 << 20
    ) -> Lines<Value> {
        Lines(client: self, limit: limit) { try await request(for: endpoint) }
    }
}
