import Foundation
import Interceptors

public struct FilmsAPI: Sendable {
    private let tokens: TokenStore
    private let client: Client

    public init(baseURL: URL, transport: any Transport = .platform()) {
        tokens = TokenStore { expired, api in
            let session: Session = try await api.post("/refresh", body: ["token": expired?.refreshToken])
            return session.newToken
        }
        client = Client(
            baseURL: baseURL,
            interceptors: [
                .validateStatus(),
                .retryOnUnauthorized(tokens),
                .bearerAuth(tokens),
                .cache(.memory()),
                .retry(3),
            ],
            transport: transport
        )
    }

    public func signIn(name: String, password: String) async throws {
        let session: Session = try await client.post(
            "/login",
            body: ["name": name, "password": password],
            context: .with(\.authorization, .omitted)
        )
        tokens.signIn(session.newToken)
    }

    public func film(_ id: Int, isOffline: Bool = false) async throws -> Film {
        let mode: CacheMode = isOffline ? .offline : .standard
        return try await client.get("/films/\(id)", context: .with(\.cacheMode, mode))
    }
}

private struct Session: Decodable, Sendable {
    let token: String
    let refreshToken: String

    var newToken: TokenStore.Token { TokenStore.Token(token, refreshToken: refreshToken) }
}
