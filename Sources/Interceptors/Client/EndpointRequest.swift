/// The request of an ``Endpoint``, whose response decodes as `Response`.
///
/// The factories take what the client's verbs take: `.get(…)`, `.post(…)`, `.put(…)`, `.patch(…)` and `.delete(…)`. For another
/// method, use the initializer: `EndpointRequest(.head, "/users/42")`.
///
/// A request is an endpoint too, made by a function:
///
/// ```swift
/// func user(_ id: Int) -> EndpointRequest<User> { .get("/users/\(id)") }
/// func rename(_ id: Int, to name: String) -> EndpointRequest<NoContent> { .patch("/users/\(id)", body: ["name": name]) }
///
/// let ada = try await api.call(user(42))
/// try await api.call(rename(42, to: "Grace"))
/// ```
public struct EndpointRequest<Response: Decodable & Sendable>: Endpoint {
    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the client's base URL, or an absolute URL.
    public var path: RequestTarget
    /// The query, appended to any query in the path.
    public var query: HTTPQuery
    /// Fields that take precedence over the chain's defaults.
    public var headers: HTTPFields
    /// The content.
    public var body: RequestBody?
    /// Values that accompany the request but aren't sent.
    public var context: HTTPContext
    // A closure, because an answer in place makes each copy of a request three times as large.
    private var givenSample: (@Sendable () -> StubAnswer)?

    /// Creates a request, by default without query, fields and content.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path below the client's base URL, or an absolute URL.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults.
    ///   - body: the content with its media type.
    ///   - context: values that accompany the request but aren't sent.
    public init(
        _ method: HTTPRequest.Method,
        _ path: RequestTarget,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        body: RequestBody? = nil,
        context: HTTPContext = HTTPContext()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.context = context
    }

    /// This request, which is its own endpoint.
    public var request: EndpointRequest<Response> { self }

    /// The answer in previews and tests, where the transport is `.samples`. By default a failure with `HTTPErrorCode.noStub`.
    public var sample: StubAnswer {
        givenSample?()
            ?? .failure(TransportError(.noStub, "\(Self.self) has no sample: it was made without `.sample(…)`."))
    }

    /// Adds the answer in previews and tests, where the transport is `.samples`.
    ///
    /// ```swift
    /// func user(_ id: Int) -> EndpointRequest<User> {
    ///     .get("/users/\(id)").sample(.json(#"{"id":42,"name":"Ada"}"#))
    /// }
    /// ```
    public func sample(_ answer: StubAnswer) -> Self {
        var request = self
        request.givenSample = { answer }
        return request
    }
}

extension EndpointRequest {
    /// A GET request. The parameters are those of the initializer.
    public static func get(
        _ path: RequestTarget,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) -> Self {
        Self(.get, path, query: query, headers: headers, context: context)
    }

    /// POST requests with a value or with content: `.post("/films", body: film)`.
    public static var post: Verb { Verb(method: .post) }
    /// PUT requests with a value or with content: `.put("/films/42", body: film)`.
    public static var put: Verb { Verb(method: .put) }
    /// PATCH requests with a value or with content: `.patch("/films/42", body: changes)`.
    public static var patch: Verb { Verb(method: .patch) }
    /// DELETE requests, which rarely have content: `.delete("/films/42")`.
    public static var delete: Verb { Verb(method: .delete) }

    /// A method that may have content, to be called like a function: ``EndpointRequest/post`` and its siblings.
    public struct Verb: Sendable {
        let method: HTTPRequest.Method

        /// A request with a value.
        ///
        /// - Parameters:
        ///   - path: a path below the client's base URL, or a whole URL.
        ///   - body: the value, which the client's encoder encodes. `Data` is sent as it is, and a `String` as plain text.
        ///   - query: the parameters that are appended to the URL.
        ///   - headers: the header fields.
        ///   - context: the options of the call.
        public func callAsFunction(
            _ path: RequestTarget,
            body: some Encodable & Sendable,
            query: HTTPQuery = HTTPQuery(),
            headers: HTTPFields = HTTPFields(),
            context: HTTPContext = HTTPContext()
        ) -> EndpointRequest {
            self(path, body: .value(body) as RequestBody, query: query, headers: headers, context: context)
        }

        /// A request with the given content, if any.
        public func callAsFunction(
            _ path: RequestTarget,
            body: RequestBody? = nil,
            query: HTTPQuery = HTTPQuery(),
            headers: HTTPFields = HTTPFields(),
            context: HTTPContext = HTTPContext()
        ) -> EndpointRequest {
            EndpointRequest(method, path, query: query, headers: headers, body: body, context: context)
        }
    }
}
