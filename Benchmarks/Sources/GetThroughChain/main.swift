import Foundation
import Interceptors

struct User: Decodable, Sendable { let id: Int, name: String }
struct Session: Decodable, Sendable { let token: String }

let tokens = TokenStore { _, api in
    let session: Session = try await api.post("/refresh", body: ["user": "ada"])
    return TokenStore.Token(session.token)
}
let api = Client(
    baseURL: URL(string: "https://api.example.com"),
    interceptors: [
        .validateStatus(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .cache(.memory()), .retry(maxAttempts: 3),
        .logging(),
    ],
    transport: .platform()
)
let user: User = try await api.get("/users/42")
print(user.name)
