import Foundation
import InterceptorsCore
import InterceptorsTesting

struct User: Codable, Hashable, Sendable {
    var id: Int
    var name = "Ada"
}

func makeClient(_ stub: StubTransport, _ interceptors: [any Interceptor] = []) -> Client {
    Client(baseURL: URL(string: "https://api.example.com/v1"), interceptors: interceptors, transport: stub)
}
