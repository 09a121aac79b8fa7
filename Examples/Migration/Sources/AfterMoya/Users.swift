import Foundation
import Interceptors
import InterceptorsStubs
import Models

// example: target
enum UsersEndpoint: Endpoint {
    case user(id: Int)
    case search(name: String, page: Int)
    case create(NewUser)

    var request: EndpointRequest<User> {
        switch self {
        case .user(let id): .get("/users/\(id)")
        case .search(let name, let page): .get("/users", query: ["name": name, "page": page])
        case .create(let user): .post("/users", body: user)
        }
    }
}
// end

// example: provider
func makeAPI(
    _ baseURL: URL,
    transport: any Transport = .platform(),
    token: @escaping @Sendable () async -> String?
) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [.validateStatus(), .bearerAuth(token: token), .logging(.headers)],
        transport: transport
    )
}
// end

func user(_ id: Int, from api: Client) async throws -> User {
    try await api.call(UsersEndpoint.user(id: id))
}

// example: callback
func user(
    _ id: Int,
    from api: Client,
    completion: @escaping @MainActor @Sendable (Result<User, any Error>) -> Void
) {
    api.run {
        try await $0.call(UsersEndpoint.user(id: id))
    } completion: { @MainActor in
        completion($0)
    }
}
// end

func upload(photo: Data, title: String, to api: Client) async throws {
    let form = try RequestBody.multipart([
        .text(name: "title", title),
        .data(name: "photo", photo, filename: "photo.jpg", contentType: "image/jpeg"),
    ])
    try await api.post("/photos", body: form)
}

// example: plugin
struct Language: Interceptor {
    let language: String

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers[.acceptLanguage] = language
        let path = request.url.path
        let response = try await next(request)
        print(path, response.status)
        return response
    }
}
// end

func makeAPI(_ baseURL: URL, key: String) -> Client {
    Client(baseURL: baseURL, interceptors: [.validateStatus(), .headers(["X-Client": key])])
}

func makeStub() -> StubTransport {
    let stub = StubTransport()
    stub.on(.get, "/users/*", .json(#"{"id":42,"name":"Ada"}"#))
    return stub
}
