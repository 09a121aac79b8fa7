/// One operation of an API: its request, and the type of its response.
///
/// Write an API as an enum, whose request has a row for each case:
///
/// ```swift
/// nonisolated enum Users: Endpoint {
///     case one(Int)
///     case create(NewUser)
///     case search(String)
///
///     var request: EndpointRequest<User> {
///         switch self {
///         case .one(let id): .get("/users/\(id)")
///         case .create(let user): .post("/users", body: user)
///         case .search(let term): .get("/users", query: ["q": term])
///         }
///     }
/// }
///
/// let ada = try await api.call(Users.one(42))
/// let found = try await api.call(Users.search("Ada"), as: [User].self)
/// ```
/// The request names the type of the response; a call can name another. Or write one type for each endpoint:
///
/// ```swift
/// nonisolated struct UserByID: Endpoint {
///     let id: Int
///     var request: EndpointRequest<User> { .get("/users/\(id)") }
/// }
///
/// let user = try await api.call(UserByID(id: 42))
/// ```
/// An ``EndpointRequest`` is an endpoint too, so a function can make one without a type. `nonisolated` matters in modules that are
/// isolated to the main actor, as new Xcode apps are.
public protocol Endpoint: Sendable {
    /// The type that a successful response decodes to.
    associatedtype Response: Decodable & Sendable = NoContent

    /// The request, with everything that is sent. A getter may throw, for example if a file of the content can't be read.
    var request: EndpointRequest<Response> { get throws }
    /// The answer in previews and tests, where the transport is `.samples` of the module `InterceptorsRecordings`. By default a failure that
    /// names the endpoint.
    ///
    /// ```swift
    /// var sample: StubAnswer { .json(#"{"id":42,"name":"Ada"}"#) }
    /// ```
    var sample: StubAnswer { get }
}

extension Endpoint {
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

    /// On a request: the endpoint it was made from, an ``EndpointRequest`` too; `nil` for a request made by a verb or by hand.
    ///
    /// To let interceptors read properties of an endpoint, declare a protocol in your module:
    ///
    /// ```swift
    /// nonisolated protocol Named: Endpoint { var name: String { get } }
    ///
    /// let naming: AnyInterceptor = .intercept { request, next in
    ///     request.headers["X-Operation"] = (request.context.endpoint as? any Named)?.name
    ///     return try await next(request)
    /// }
    /// ```
    public var endpoint: (any Endpoint)? {
        get { self[EndpointKey.self] }
        set { self[EndpointKey.self] = newValue }
    }
}
