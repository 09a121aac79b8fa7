import Foundation
import Interceptors
import Models

// example: session
func makeAPI(_ baseURL: URL, tokens: TokenStore) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [
            .validateStatus(),
            .followRedirects(),
            .retryOnUnauthorized(tokens),
            .bearerAuth(tokens),
            .retry(maxAttempts: 3),
            .logging(.headers),
        ]
    )
}
// end

struct Filter: Encodable, Sendable {
    let ids: [Int]
    let isActive: Bool
    let name: String
}

struct Users {
    let api: Client

    func user(_ id: Int) async throws -> User {
        try await api.get("/users/\(id)")
    }

    func showUser(_ id: Int, completion: @escaping @Sendable (Result<User, any Error>) -> Void) {
        api.run {
            try await $0.get("/users/\(id)", as: User.self)
        } completion: {
            completion($0)
        }
    }

    // example: query
    func search(_ filter: Filter) async throws -> [User] {
        var encoder = HTTPQueryEncoder()
        encoder.arrays = .brackets
        encoder.boolsAsNumbers = true
        return try await api.get("/users", query: encoder.encode(filter))
    }
    // end

    func create(_ user: NewUser) async throws -> User {
        try await api.post("/users", body: user)
    }

    func upload(photo: Data, title: String) async throws {
        let form = try RequestBody.multipart([
            .text(name: "title", title),
            .data(name: "photo", photo, filename: "photo.jpg", contentType: "image/jpeg"),
        ])
        try await api.post("/photos", body: form)
    }

    func download(to file: URL) async throws {
        try await api.download("/film", to: file)
    }
}

func makeAPIWithoutRedirects(_ baseURL: URL) -> Client {
    Client(baseURL: baseURL, interceptors: [])
}

func location(of path: RequestTarget, from api: Client) async throws -> String? {
    try await api.send(EndpointRequest<NoContent>.get(path)).headers[.location]
}

struct Language: Interceptor {
    let language: String

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers[.acceptLanguage] = language
        return try await next(request)
    }
}

// example: tokens
func makeTokens(_ login: Login) -> TokenStore {
    TokenStore(TokenStore.Token(login.token, refreshToken: login.refreshToken)) { rejected, api in
        let login: Login = try await api.post("/refresh", body: ["token": rejected?.refreshToken])
        return TokenStore.Token(login.token, refreshToken: login.refreshToken)
    }
}
// end

func makeLoggedAPI(_ baseURL: URL, log: LogSink = .standardError) -> Client {
    Client(baseURL: baseURL, interceptors: [.validateStatus(), .logging(.headers, to: log, curl: true)])
}

func makePinnedAPI(_ baseURL: URL) -> Client {
    // Pins the public keys of the certificates in the app's bundle.
    Client(
        baseURL: baseURL,
        interceptors: [.validateStatus()],
        transport: .platform(tls: .pinned(certificatesIn: .main))
    )
}
