import Foundation
import Interceptors
import Models

#if canImport(FoundationNetworking)
import FoundationNetworking
import InterceptorsURLSession
#endif

// example: client
func makeAPI(_ baseURL: URL) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [
            .validateStatus(),  // the guard of each call
            .followRedirects(),  // URLSession does this by itself
            .cookies(),  // and this
            .cache(.memory()),  // and this
            .retry(maxAttempts: 3),
        ]
    )
}
// end

struct Users {
    let api: Client

    // example: get
    func user(_ id: Int) async throws -> User {
        try await api.get("/users/\(id)")
    }
    // end

    func search(_ term: String, page: Int) async throws -> [User] {
        try await api.get("/users", query: ["name": term, "page": page])
    }

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

    // example: existing
    func response(to existing: URLRequest) async throws -> HTTPResponse {
        try await api.send(HTTPRequest(existing))
    }
    // end
}

func makeSignedInAPI(_ baseURL: URL, login: Login) -> (api: Client, tokens: TokenStore) {
    let tokens = TokenStore(
        TokenStore.Token(login.token, refreshToken: login.refreshToken)
    ) { rejected, api in
        let login: Login = try await api.post("/refresh", body: ["token": rejected?.refreshToken])
        return TokenStore.Token(login.token, refreshToken: login.refreshToken)
    }
    let api = Client(
        baseURL: baseURL,
        interceptors: [.validateStatus(), .retryOnUnauthorized(tokens), .bearerAuth(tokens)]
    )
    return (api, tokens)
}

func makeLoggedAPI(_ baseURL: URL, log: LogSink = .standardError) -> Client {
    Client(baseURL: baseURL, interceptors: [.validateStatus(), .logging(.body, to: log)])
}

func makeCachingAPI(_ baseURL: URL, directory: URL) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [.validateStatus(), .cache(.disk(at: directory, byteLimit: 512_000_000))]
    )
}

func storedData(_ path: RequestTarget, in api: Client) async throws -> Data {
    // Whatever its age, and without a network.
    try await api.get(path, context: .with(\.cacheMode, .offline))
}

func makePinnedAPI(_ baseURL: URL, pins: [CertificatePin], trust: TLSTrust = .system) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [.validateStatus()],
        transport: .platform(tls: .pinned(pins, trust: trust))
    )
}
