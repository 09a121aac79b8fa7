// Endpoints and errors, with the compiler's answers. Scripts/check-diagnostics compiles each block separately.

// An API as an enum.
// compiles
enum Users: Endpoint {
    case one(Int), create(NewUser), search(String), remove(Int), photo(URL)
    var request: EndpointRequest<User> {
        get throws {
            switch self {
            case .one(let id): .get("/users/\(id)")
            case .create(let user): .post("/users", body: user, headers: ["X-Client": "ios"])
            case .search(let term): .get("/users", query: ["q": term], context: .with(\.validatesStatus, false))
            case .remove(let id): .delete("/users/\(id)")
            case .photo(let file): .put("/photo", body: try .file(at: file))
            }
        }
    }
}
let user = try await api.call(Users.one(42))
let found = try await api.call(Users.search("Ada"), as: [User].self)
let request = try await api.request(for: Users.remove(1))

// A function and a property as endpoints.
// compiles
func user(_ id: Int) -> EndpointRequest<User> { .get("/users/\(id)") }
struct Me: Endpoint { let request: EndpointRequest<User> = .get("/me") }
let both = [try await api.call(user(1)), try await api.call(Me())]

// A content without a request.
// error: type 'CreateUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<NoContent>'
struct CreateUser: Endpoint {
    let user: NewUser
    var path: RequestTarget { "/users" }
    var body: RequestBody { .encoded(user) }
}

// The same, stored.
// error: type 'CreateUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<NoContent>'
struct CreateUser: Endpoint {
    let path: RequestTarget = "/users"
    let body: RequestBody
}

// A body.
// error: type 'CreateUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<CreateUser.Response>' (aka 'EndpointRequest<User>')
struct CreateUser: Endpoint {
    typealias Response = User
    let body: NewUser
    var path: RequestTarget { "/users" }
}

// Fields, in the habit of others.
// error: type 'GetUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<NoContent>'
struct GetUser: Endpoint {
    var path: RequestTarget { "/users/42" }
    var headers: [String: String]? { ["X-Client": "ios"] }
}

// Parameters.
// error: type 'GetUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<NoContent>'
struct GetUser: Endpoint {
    var path: RequestTarget { "/users" }
    var parameters: [String: Any] { ["page": 2] }
}

// A method as text.
// error: type 'GetUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<NoContent>'
struct GetUser: Endpoint {
    let path: RequestTarget = "/users/42"
    let method = "POST"
}

// An optional method.
// error: type 'GetUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<NoContent>'
struct GetUser: Endpoint {
    let path: RequestTarget = "/users/42"
    var method: HTTPRequest.Method? { .post }
}

// A query as a dictionary.
// error: type 'GetUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<NoContent>'
struct GetUser: Endpoint {
    let path: RequestTarget = "/users"
    let query = ["page": "2"]
}

// Fields as a dictionary.
// error: type 'GetUser' does not conform to protocol 'Endpoint'
// note: protocol requires property 'request' with type 'EndpointRequest<NoContent>'
struct GetUser: Endpoint {
    let path: RequestTarget = "/users"
    let headers = ["X-Client": "ios"]
}

// A value and a form in a request.
// compiles
let value: EndpointRequest<User> = .post("/users", body: newUser)
let form: EndpointRequest<User> = .post("/users", body: .form(["name": "Ada"]))

// Parameters in a request.
// error: extra argument 'parameters' in call
let request: EndpointRequest<User> = .get("/users", parameters: ["page": 2])

// A method as text in a request.
// error: cannot convert value of type 'String' to expected argument type 'HTTPRequest.Method'
let request = EndpointRequest<User>(name, "/users")

// An optional method in a request.
// error: value of optional type 'HTTPRequest.Method?' must be unwrapped
let method: HTTPRequest.Method? = nil
let request = EndpointRequest<User>(method, "/users")

// A query as a dictionary in a request.
// error: cannot convert value of type '[String : String]' to expected argument type 'HTTPQuery'
let query = ["page": "2"]
let request: EndpointRequest<User> = .get("/users", query: query)

// Fields as a dictionary in a request.
// error: cannot convert value of type '[String : String]' to expected argument type 'HTTPFields'
let fields = ["X-Client": "ios"]
let request: EndpointRequest<User> = .get("/users", headers: fields)

// Both dictionaries, converted.
// compiles
let (query, fields) = (["page": "2"], ["X-Client": "ios"])
let request: EndpointRequest<User> = .get("/users", query: HTTPQuery(query), headers: HTTPFields(fields))

// A request of no type.
// error: reference to generic type 'EndpointRequest' requires arguments in <...>
struct GetUser: Endpoint {
    var request: EndpointRequest { .get("/users/42") }
}

// An error with a response that isn't optional.
// error: type 'ServiceError' does not conform to protocol 'HTTPError'
// note: protocol requires property 'response' with type 'HTTPResponse?'
struct ServiceError: HTTPError {
    let code = HTTPErrorCode(rawValue: "serviceFailed")
    let message = "The service failed."
    let request: HTTPRequest.Summary?
    let response: HTTPResponse
    let underlying: (any Error)?
    var context = HTTPContext()
}

// An error with a cause that isn't optional.
// error: type 'ServiceError' does not conform to protocol 'HTTPError'
// note: protocol requires property 'underlying' with type '(any Error)?'
struct ServiceError: HTTPError {
    let code = HTTPErrorCode(rawValue: "serviceFailed")
    let message = "The service failed."
    let request: HTTPRequest.Summary?
    var response: HTTPResponse? { nil }
    var underlying: any Error { Offline() }
    var context = HTTPContext()
}

// An error with a whole request.
// error: type 'ServiceError' does not conform to protocol 'HTTPError'
// note: protocol requires property 'request' with type 'HTTPRequest.Summary?'
struct ServiceError: HTTPError {
    let code = HTTPErrorCode(rawValue: "serviceFailed")
    let message = "The service failed."
    let request: HTTPRequest
    let response: HTTPResponse?
    let underlying: (any Error)?
    var context = HTTPContext()
}

// An error without a code.
// error: type 'QuotaError' does not conform to protocol 'HTTPError'
// note: protocol requires property 'code' with type 'HTTPErrorCode'
struct QuotaError: HTTPError {
    let message = "The quota is used up."
    let request: HTTPRequest.Summary?
    let response: HTTPResponse?
    let underlying: (any Error)?
    var context = HTTPContext()
}
