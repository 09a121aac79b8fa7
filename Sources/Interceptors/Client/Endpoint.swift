/// One thing that an API offers: what to send for it, and what comes back.
///
/// An API as an enum, whose calls say what they decode:
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
///     var body: RequestContent? {
///         if case .create(let user) = self { .encoded(user) } else { nil }
///     }
/// }
///
/// let user = try await api.call(Users.one(42), as: User.self)
/// ```
/// Or as a type for each endpoint, which names its response itself:
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
/// Only `path` must be given. For an endpoint without a type of its own, see ``AnyEndpoint``.
public protocol Endpoint: Sendable {
    /// What a successful response decodes to; by default nothing.
    associatedtype Response: Decodable & Sendable = NoContent

    /// The method, by default GET.
    var method: HTTPRequest.Method { get }
    /// The path below the client's base URL, or an absolute URL.
    var path: RequestTarget { get }
    /// The query, by default none but what is in the path.
    var query: HTTPQuery { get }
    /// Fields that go over what the chain has as defaults; by default none.
    var headerFields: HTTPFields { get }
    /// The content, by default none.
    var body: RequestContent? { get }
    /// What travels with the request but not over the wire; by default nothing.
    var context: HTTPContext { get }
}

extension Endpoint {
    /// GET
    public var method: HTTPRequest.Method { .get }
    /// None.
    public var query: HTTPQuery { HTTPQuery() }
    /// None.
    public var headerFields: HTTPFields { HTTPFields() }
    /// None.
    public var body: RequestContent? { nil }
    /// Nothing.
    public var context: HTTPContext { HTTPContext() }
}

/// An endpoint without a type of its own, made by a function or a closure.
///
/// ```swift
/// func user(_ id: Int) -> AnyEndpoint<User> { .init(path: "/users/\(id)") }
/// let search = { (term: String) in AnyEndpoint<[User]>(path: "/users", query: ["q": term]) }
///
/// let ada = try await api.call(user(1))
/// let found = try await api.call(search("Ada"))
/// ```
public struct AnyEndpoint<Response: Decodable & Sendable>: Endpoint {
    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the client's base URL, or an absolute URL.
    public var path: RequestTarget
    /// The query.
    public var query: HTTPQuery
    /// Fields that go over what the chain has as defaults.
    public var headerFields: HTTPFields
    /// The content.
    public var body: RequestContent?
    /// What travels with the request but not over the wire.
    public var context: HTTPContext

    /// An endpoint; by default a GET without query, fields and content.
    public init(
        _ method: HTTPRequest.Method = .get,
        path: RequestTarget,
        query: HTTPQuery = HTTPQuery(),
        headerFields: HTTPFields = HTTPFields(),
        body: RequestContent? = nil,
        context: HTTPContext = HTTPContext()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headerFields = headerFields
        self.body = body
        self.context = context
    }
}
