import Foundation
import Interceptors
import InterceptorsTesting
import Models
import Moya
import Synchronization
import Testing

@testable import AfterMoya
@testable import BeforeMoya

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// One after the other, because the targets' URL is a global variable.
@Suite(.againstHanging, .serialized)
struct MoyaTests {
    private let ada = User(id: 42, name: "Ada")

    private func serveAda(_ server: MockServer) {
        server.enqueue(.json(#"{"id":42,"name":"Ada"}"#))
    }

    private func decoded<Value: Decodable & Sendable>(
        _ target: UsersTarget,
        at url: URL,
        by provider: MoyaProvider<UsersTarget> = makeProvider { "t1" }
    ) async throws -> Value {
        Environment.apiURL = url
        return try await withCheckedThrowingContinuation { continuation in
            provider.request(target) { result in
                continuation.resume(with: Result { try result.get().map(Value.self) })
            }
        }
    }

    private func after(_ url: URL) -> Client {
        makeAPI(url) { "t1" }
    }

    @Test func bothGetWithATokenAndDecode() async throws {
        let line = "GET /users/42 Authorization: Bearer t1"
        try await expectBoth(toReturn: ada, andSend: [line], showing: .authorization, serve: serveAda) { url in
            Environment.apiURL = url
            let provider = makeProvider { "t1" }
            return try await withCheckedThrowingContinuation { continuation in
                BeforeMoya.user(42, from: provider) { continuation.resume(with: $0) }
            }
        } after: {
            try await AfterMoya.user(42, from: after($0))
        }
    }

    @Test func theCompletionHandlerIsCalledOnTheMainActor() async throws {
        let server = try MockServer()
        defer { server.stop() }
        serveAda(server)
        let api = after(server.url)
        let user = try await withCheckedThrowingContinuation { continuation in
            AfterMoya.user(42, from: api) { result in
                MainActor.assertIsolated()
                continuation.resume(with: result)
            }
        }
        #expect(user == ada)
    }

    @Test func bothEncodeAQuery() async throws {
        try await expectBoth(toReturn: [ada], andSend: ["GET /users?name=Ada%20L&page=2"]) {
            $0.enqueue(.json(#"[{"id":42,"name":"Ada"}]"#))
        } before: {
            try await decoded(.search(name: "Ada L", page: 2), at: $0)
        } after: {
            try await after($0).call(UsersEndpoint.search(name: "Ada L", page: 2), as: [User].self)
        }
    }

    @Test func bothPostJSON() async throws {
        let line = #"POST /users Content-Type: application/json {"name":"Ada"}"#
        try await expectBoth(toReturn: ada, andSend: [line], showing: .contentType, serve: serveAda) {
            try await decoded(.create(NewUser(name: "Ada")), at: $0)
        } after: {
            try await after($0).call(UsersEndpoint.create(NewUser(name: "Ada")), as: User.self)
        }
    }

    @Test func bothSendTheSameMultipartForm() async throws {
        try await expectBoth(toReturn: ada, andSend: [photoForm], serve: serveAda) {
            try await decoded(.upload(photo: Data("jpeg".utf8), title: "Ada"), at: $0)
        } after: {
            try await upload(photo: Data("jpeg".utf8), title: "Ada", to: after($0))
            return ada
        }
    }

    @Test func bothChangeEachRequest() async throws {
        let line = "GET /users/42 Accept-Language: de"
        try await expectBoth(toReturn: ada, andSend: [line], showing: .acceptLanguage, serve: serveAda) {
            try await decoded(.user(id: 42), at: $0, by: MoyaProvider(plugins: [LanguagePlugin(language: "de")]))
        } after: {
            try await user(42, from: Client(baseURL: $0, interceptors: [Language(language: "de")]))
        }
    }

    @Test func bothAddAField() async throws {
        let line = "GET /users/42 X-Client: k1"
        try await expectBoth(toReturn: ada, andSend: [line], showing: "X-Client", serve: serveAda) {
            try await decoded(.user(id: 42), at: $0, by: makeProvider(key: "k1"))
        } after: {
            try await user(42, from: makeAPI($0, key: "k1"))
        }
    }

    @Test func bothAnswerATestWithoutANetwork() async throws {
        try await expectBoth(toReturn: ada, andSend: []) { _ in
        } before: {
            try await decoded(.user(id: 42), at: $0, by: makeStubbedProvider())
        } after: {
            try await user(42, from: makeAPI($0, transport: makeStub()) { "t1" })
        }
    }

    @Test func bothThrowForAStatusOutside2xx() async throws {
        try await expectBoth(toReturn: true, andSend: ["GET /users/42"]) {
            $0.enqueue(.status(404, body: "{}"))
        } before: { url in
            await #expect(throws: MoyaError.self) { try await decoded(.user(id: 42), at: url) as User } != nil
        } after: { url in
            await #expect(throws: StatusError.self) { try await user(42, from: after(url)) }?.status == 404
        }
    }

    // MARK: What differs

    @Test(.enabled(if: runsBefore)) func moyaCallsPluginsInTheSameOrderBothWays() async throws {
        let server = try MockServer()
        defer { server.stop() }
        serveAda(server)
        let order = Mutex<[String]>([])
        let plugins = ["a", "b"].map { name in NotingPlugin { event in order.withLock { $0.append(event + name) } } }
        let _: User = try await decoded(.user(id: 42), at: server.url, by: MoyaProvider(plugins: plugins))
        #expect(order.withLock { $0 } == [">a", ">b", "<a", "<b"])
    }

    @Test func theResponseMeetsTheArrayInReverse() async throws {
        let order = Mutex<[String]>([])
        let interceptors = ["a", "b"].map { name in
            AnyInterceptor.intercept { request, next in
                order.withLock { $0.append(">\(name)") }
                let response = try await next(request)
                order.withLock { $0.append("<\(name)") }
                return response
            }
        }
        let url = URL(string: "https://api.example.com")
        try await Client(baseURL: url, interceptors: interceptors, transport: .stub(.status(200))).get("/")
        #expect(order.withLock { $0 } == [">a", ">b", "<b", "<a"])
    }
}

private struct NotingPlugin: PluginType {
    let note: @Sendable (String) -> Void

    func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest {
        note(">")
        return request
    }

    func process(
        _ result: Result<Moya.Response, MoyaError>,
        target: any TargetType
    ) -> Result<Moya.Response, MoyaError> {
        note("<")
        return result
    }
}
