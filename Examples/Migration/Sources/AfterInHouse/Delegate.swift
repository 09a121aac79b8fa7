import Foundation
import Interceptors
import Models

// example: delegate-step-1
protocol NetworkingDelegate: AnyObject, Sendable {
    func bearerToken() async -> String?
    func logIn() async throws
}

func makeAPI(_ baseURL: URL, asking delegate: any NetworkingDelegate) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [
            .validateStatus(),
            .retryOnUnauthorized { [weak delegate] in try await delegate?.logIn() },
            .bearerAuth { [weak delegate] in await delegate?.bearerToken() },
        ]
    )
}
// end

func makeAPI(_ baseURL: URL, tokens: TokenStore) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [.validateStatus(), .retryOnUnauthorized(tokens), .bearerAuth(tokens)]
    )
}

func makeTokens(saved: TokenStore.Token?) -> TokenStore {
    TokenStore(saved) { rejected, api in
        let login: Login = try await api.post("/refresh", body: ["token": rejected?.refreshToken])
        return TokenStore.Token(login.token, refreshToken: login.refreshToken)
    }
}

// example: delegate-callers
func showUser(_ id: Int, with api: Client, completion: @escaping @Sendable (Result<User, any Error>) -> Void) {
    api.run {
        try await $0.get("/users/\(id)", as: User.self)
    } completion: {
        completion($0)
    }
}
// end
