import Foundation
import InterceptorsCore

struct User: Decodable, Sendable { let id: Int, name: String }

let api = Client(baseURL: URL(string: "https://api.example.com"), interceptors: [], transport: .platform())
let user: User = try await api.get("/users/42")
print(user.name)
