import Foundation
import Middlewares
import Testing

// In this target, declarations belong to the main actor unless marked `nonisolated`. The test is that the code
// compiles.

nonisolated struct User: Codable, Equatable {
    let id: Int
}

nonisolated struct GetUser: Endpoint {
    typealias Response = User
    let id: Int
    var path: RequestTarget { "/users/\(id)" }
}

nonisolated enum LanguageKey: HTTPContextKey {
    static var defaultValue: String { "en" }
}

nonisolated extension HTTPContext {
    var language: String {
        get { self[LanguageKey.self] }
        set { self[LanguageKey.self] = newValue }
    }
}

nonisolated struct LanguageInterceptor: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headerFields[.acceptLanguage] = request.context.language
        return try await next(request)
    }
}

nonisolated extension HTTPErrorCode {
    static let quotaUsedUp = Self(rawValue: "quotaUsedUp")
}

nonisolated struct QuotaError: HTTPError {
    let code = HTTPErrorCode.quotaUsedUp
    let message = "The quota is used up."
    var context = HTTPContext()
}

final class Model {
    private let api: Client
    private(set) var users: [User] = []

    init(_ stub: StubTransport) {
        let chain: [any Interceptor] = [
            .validateStatus(), LanguageInterceptor(), .intercept { request, next in try await next(request) },
        ]
        api = Client(baseURL: URL(string: "https://api.example.com"), interceptors: chain, transport: stub)
    }

    func load() async throws {
        users.append(try await api.get("/users/1"))
        users.append(try await api.get("/users/2", as: User.self))
        users.append(try await api.call(GetUser(id: 3)))
        users.append(try await api.post("/users", body: User(id: 4)))
        try await api.put("/users/4", body: User(id: 4))
    }
}

struct MainActorTests {
    @Test func appOfTheMainActorCallsAndDecodes() async throws {
        let stub = StubTransport()
        for id in 1...4 { stub.enqueue(.json("{\"id\":\(id)}")) }
        stub.enqueue(.status(204))
        let model = Model(stub)
        try await model.load()
        #expect(model.users == (1...4).map { User(id: $0) })
        #expect(stub.requests.allSatisfy { $0.headerFields[.acceptLanguage] == "en" })
    }
}
