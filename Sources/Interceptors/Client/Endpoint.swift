/// One operation of an API: the request to send, and the type of its response.
///
/// Write an API as an enum, and name the response's type at each call:
///
/// ```swift
/// enum Users: Endpoint {
///     case one(Int)
///     case create(NewUser)
///
///     var method: HTTPRequest.Method {
///         switch self {
///         case .one: .get
///         case .create: .post
///         }
///     }
///     var path: RequestTarget {
///         switch self {
///         case .one(let id): "/users/\(id)"
///         case .create: "/users"
///         }
///     }
///     var content: RequestContent? {
///         if case .create(let user) = self { .encoded(user) } else { nil }
///     }
/// }
///
/// let user = try await api.call(Users.one(42), as: User.self)
/// ```
/// Or write one type for each endpoint, which names its own response:
///
/// ```swift
/// struct UserByID: Endpoint {
///     typealias Response = User
///     let id: Int
///     var path: RequestTarget { "/users/\(id)" }
/// }
///
/// let user = try await api.call(UserByID(id: 42))
/// ```
/// Only `path` is required. For an endpoint without a dedicated type, see ``AnyEndpoint``.
public protocol Endpoint: Sendable {
    /// The type that a successful response decodes to. By default ``NoContent``.
    associatedtype Response: Decodable & Sendable = NoContent

    /// The method. By default GET.
    var method: HTTPRequest.Method { get }
    /// The path below the client's base URL, or an absolute URL.
    var path: RequestTarget { get }
    /// The query, appended to any query in the path. By default empty.
    var query: HTTPQuery { get }
    /// Fields that take precedence over the chain's defaults. By default empty.
    var headerFields: HTTPFields { get }
    /// The content. By default none.
    var content: RequestContent? { get }
    /// Values that accompany the request but aren't sent. By default empty.
    var context: HTTPContext { get }
    /// The answer in previews and tests, where the transport is `.samples` of the module `Recordings`. By default a failure that
    /// names the endpoint.
    ///
    /// ```swift
    /// var sample: StubAnswer { .json(#"{"id":42,"name":"Ada"}"#) }
    /// ```
    var sample: StubAnswer { get }
}

extension Endpoint {
    /// GET.
    public var method: HTTPRequest.Method { .get }
    /// An empty query.
    public var query: HTTPQuery { HTTPQuery() }
    /// No fields.
    public var headerFields: HTTPFields { HTTPFields() }
    /// No content.
    public var content: RequestContent? { nil }
    /// An empty context.
    public var context: HTTPContext { HTTPContext() }
    /// A failure with ``HTTPErrorCode/noStub`` that names the endpoint's type.
    ///
    /// A property `sample` of any other type than `StubAnswer` doesn't replace this default: the compiler takes it for another
    /// property.
    public var sample: StubAnswer {
        .failure(TransportError(.noStub, "\(Self.self) has no sample: it needs a `var sample: StubAnswer`."))
    }
}

extension HTTPContext {
    private enum EndpointKey: HTTPContextKey { static var defaultValue: (any Endpoint)? { nil } }

    /// On a request: the endpoint it was made from, an ``AnyEndpoint`` too; `nil` for a request made by a verb or by hand.
    ///
    /// To let interceptors read properties of an endpoint, declare a protocol in your module:
    ///
    /// ```swift
    /// protocol Named: Endpoint { var name: String { get } }
    ///
    /// let naming: AnyInterceptor = .intercept { request, next in
    ///     request.headerFields["X-Operation"] = (request.context.endpoint as? any Named)?.name
    ///     return try await next(request)
    /// }
    /// ```
    public var endpoint: (any Endpoint)? {
        get { self[EndpointKey.self] }
        set { self[EndpointKey.self] = newValue }
    }
}

/// An endpoint without a dedicated type, made by a function or a closure.
///
/// ```swift
/// func user(_ id: Int) -> AnyEndpoint<User> { .init(path: "/users/\(id)") }
/// let search = { (term: String) in AnyEndpoint<[User]>(path: "/users", query: ["q": term]) }
///
/// let ada = try await api.call(user(1))
/// let found = try await api.call(search("Ada"))
/// ```
/// In an interceptor, `HTTPContext.endpoint` is this value.
public struct AnyEndpoint<Response: Decodable & Sendable>: Endpoint {
    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the client's base URL, or an absolute URL.
    public var path: RequestTarget
    /// The query.
    public var query: HTTPQuery
    /// Fields that take precedence over the chain's defaults.
    public var headerFields: HTTPFields
    /// The content.
    public var content: RequestContent?
    /// Values that accompany the request but aren't sent.
    public var context: HTTPContext
    private var givenSample: StubAnswer?

    /// The answer in previews and tests, where the transport is `.samples`. By default a failure with `HTTPErrorCode.noStub`.
    public var sample: StubAnswer {
        get {
            givenSample
                ?? .failure(TransportError(.noStub, "\(Self.self) has no sample: it was made without `sample:`."))
        }
        set { givenSample = newValue }
    }

    /// Creates an endpoint. By default a GET without query, fields or content.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path below the client's base URL, or an absolute URL.
    ///   - query: the query.
    ///   - headerFields: fields that take precedence over the chain's defaults.
    ///   - content: the content.
    ///   - context: values that accompany the request but aren't sent.
    ///   - sample: the answer in previews and tests, where the transport is `.samples`.
    public init(
        _ method: HTTPRequest.Method = .get,
        path: RequestTarget,
        query: HTTPQuery = HTTPQuery(),
        headerFields: HTTPFields = HTTPFields(),
        content: RequestContent? = nil,
        context: HTTPContext = HTTPContext(),
        sample: StubAnswer? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headerFields = headerFields
        self.content = content
        self.context = context
        givenSample = sample
    }
}
