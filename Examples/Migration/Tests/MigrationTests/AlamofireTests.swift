import Alamofire
import Foundation
import Interceptors
import InterceptorsTesting
import Models
import Synchronization
import Testing

@testable import AfterAlamofire
@testable import BeforeAlamofire

@Suite(.againstHanging)
struct AlamofireTests {
    private let ada = User(id: 42, name: "Ada")
    private let login = Login(token: "old", refreshToken: "r1")

    private func before(_ url: URL) -> BeforeAlamofire.Users {
        BeforeAlamofire.Users(session: Session(), baseURL: url)
    }

    private func after(_ url: URL) -> AfterAlamofire.Users {
        AfterAlamofire.Users(api: makeAPI(url, tokens: makeTokens(login)))
    }

    private func serveAda(_ server: MockServer) {
        server.enqueue(.json(#"{"id":42,"name":"Ada"}"#))
    }

    @Test func bothGetAndDecode() async throws {
        try await expectBoth(toReturn: ada, andSend: ["GET /users/42"], serve: serveAda) {
            try await before($0).user(42)
        } after: {
            try await after($0).user(42)
        }
    }

    @Test func bothCallACompletionHandler() async throws {
        try await expectBoth(toReturn: ada, andSend: ["GET /users/42"], serve: serveAda) { url in
            let users = before(url)
            return try await withCheckedThrowingContinuation { continuation in
                users.showUser(42) { continuation.resume(with: $0.mapError { $0 as any Error }) }
            }
        } after: { url in
            let users = after(url)
            return try await withCheckedThrowingContinuation { continuation in
                users.showUser(42) { continuation.resume(with: $0) }
            }
        }
    }

    @Test func bothEncodeAQuery() async throws {
        let line = "GET /users?ids%5B%5D=1&ids%5B%5D=2&isActive=1&name=Ada%20Lovelace"
        try await expectBoth(toReturn: [ada], andSend: [line]) {
            $0.enqueue(.json(#"[{"id":42,"name":"Ada"}]"#))
        } before: {
            try await before($0).search(.init(ids: [1, 2], isActive: true, name: "Ada Lovelace"))
        } after: {
            try await after($0).search(.init(ids: [1, 2], isActive: true, name: "Ada Lovelace"))
        }
    }

    @Test func bothPostJSON() async throws {
        let line = #"POST /users Content-Type: application/json {"name":"Ada"}"#
        try await expectBoth(toReturn: ada, andSend: [line], showing: .contentType, serve: serveAda) {
            try await before($0).create(NewUser(name: "Ada"))
        } after: {
            try await after($0).create(NewUser(name: "Ada"))
        }
    }

    @Test func bothSendTheSameMultipartForm() async throws {
        try await expectBoth(toReturn: true, andSend: [photoForm]) {
            $0.enqueue(.status(204))
        } before: {
            try await before($0).upload(photo: Data("jpeg".utf8), title: "Ada")
            return true
        } after: {
            try await after($0).upload(photo: Data("jpeg".utf8), title: "Ada")
            return true
        }
    }

    @Test func bothSaveAFile() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "film")
        try await expectBoth(toReturn: Data("film".utf8), andSend: ["GET /film"]) {
            $0.enqueue(.text("film"))
        } before: {
            try await before($0).download(to: file)
            return try Data(contentsOf: file)
        } after: {
            try await after($0).download(to: file)
            return try Data(contentsOf: file)
        }
    }

    @Test func bothShowARedirectThatTheyDontFollow() async throws {
        try await expectBoth(toReturn: "/b", andSend: ["GET /a"]) {
            $0.enqueue(.status(302, headers: [.location: "/b"]))
        } before: {
            try await before($0).location(of: "a")
        } after: {
            try await location(of: "/a", from: makeAPIWithoutRedirects($0))
        }
    }

    @Test func bothChangeEachRequest() async throws {
        let line = "GET /users/42 Accept-Language: de"
        try await expectBoth(toReturn: ada, andSend: [line], showing: .acceptLanguage, serve: serveAda) {
            let session = Session(interceptor: LanguageAdapter(language: "de"))
            return try await BeforeAlamofire.Users(session: session, baseURL: $0).user(42)
        } after: {
            let api = Client(baseURL: $0, interceptors: [Language(language: "de")])
            return try await AfterAlamofire.Users(api: api).user(42)
        }
    }

    @Test func bothRefreshTheTokenAndSendAgain() async throws {
        let lines = [
            "GET /users/42 Authorization: Bearer old", #"POST /refresh {"token":"r1"}"#,
            "GET /users/42 Authorization: Bearer new",
        ]
        try await expectBoth(toReturn: ada, andSend: lines, showing: .authorization, serve: serveUsers) {
            let session = makeSession(makeAccount($0, login: login))
            return try await BeforeAlamofire.Users(session: session, baseURL: $0).user(42)
        } after: {
            try await after($0).user(42)
        }
    }

    @Test func bothTryAGetThreeTimes() async throws {
        let line = "GET /users/42"
        try await expectBoth(toReturn: ada, andSend: [line, line, line]) {
            let busy = StubAnswer.status(503, headers: [.retryAfter: "0"])
            $0.enqueue(busy, busy, .json(#"{"id":42,"name":"Ada"}"#))
        } before: {
            let session = Session(interceptor: RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0))
            return try await BeforeAlamofire.Users(session: session, baseURL: $0).user(42)
        } after: {
            try await after($0).user(42)
        }
    }

    @Test func bothThrowForAStatusOutside2xx() async throws {
        try await expectBoth(toReturn: true, andSend: ["GET /users/42"]) {
            $0.enqueue(.status(404, body: "{}"))
        } before: { url in
            await #expect(throws: AFError.self) { try await before(url).user(42) } != nil
        } after: { url in
            await #expect(throws: StatusError.self) { try await after(url).user(42) }?.status == 404
        }
    }

    @Test func theLogHidesTheTokenAlsoInCurlCommands() async throws {
        let server = try MockServer()
        defer { server.stop() }
        serveAda(server)
        let entries = Mutex<[String]>([])
        let api = makeLoggedAPI(server.url, log: LogSink { entry in entries.withLock { $0.append(entry.text) } })
        try await api.get("/users/42", headers: [.authorization: "Bearer secret"])
        let log = entries.withLock { $0.joined(separator: "\n") }
        #expect(log.contains("curl") && !log.contains("secret"))
    }

    // MARK: What differs

    private func serveAfterARefresh(_ server: MockServer) {
        let busy = StubAnswer.status(503, headers: [.retryAfter: "0"])
        server.on(.post, "/refresh", .json(#"{"token":"new","refreshToken":"r2"}"#))
        server.enqueue(.status(401))
        server.enqueue(busy, busy, .json(#"{"id":42,"name":"Ada"}"#))
    }

    @Test(.enabled(if: runsBefore)) func withoutValidateAlamofireDecodesAnErrorPage() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.enqueue(.json(#"{"id":42,"name":"Ada"}"#, status: 404))
        let session = Session()
        let user = try await session.request(server.url).serializingDecodable(User.self).value
        #expect(user == ada)
        withExtendedLifetime(session) {}
    }

    @Test func aTypedCallNeverDecodesAnErrorPage() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.enqueue(.json(#"{"id":42,"name":"Ada"}"#, status: 404))
        let error = await #expect(throws: ResponseDecodingError.self) {
            try await Client(baseURL: server.url, interceptors: []).get("/", as: User.self)
        }
        #expect(error?.code == .unacceptedStatus)
    }

    @Test(.enabled(if: runsBefore)) func alamofireCountsARefreshAsARetry() async throws {
        let server = try MockServer()
        defer { server.stop() }
        serveAfterARefresh(server)
        let policy = RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0)
        let interceptor = Interceptor(interceptors: [makeAccount(server.url, login: login), policy])
        let users = BeforeAlamofire.Users(session: Session(interceptor: interceptor), baseURL: server.url)
        await #expect(throws: AFError.self) { try await users.user(42) }
        #expect(server.requests.filter { $0.path == "/users/42" }.count == 3)
    }

    @Test func aRefreshIsNoRetry() async throws {
        let server = try MockServer()
        defer { server.stop() }
        serveAfterARefresh(server)
        #expect(try await after(server.url).user(42) == ada)
        #expect(server.requests.filter { $0.path == "/users/42" }.count == 4)
    }

    @Test(.enabled(if: runsBefore)) func alamofireSendsTheTokenToEveryServer() async throws {
        let other = try MockServer()
        defer { other.stop() }
        serveAda(other)
        let session = Session(interceptor: makeAccount(other.url, login: login))
        _ = try await session.request(other.url).validate().serializingData().value
        withExtendedLifetime(session) {}
        #expect(other.lines([.authorization]) == ["GET / Authorization: Bearer old"])
    }

    @Test func theTokenGoesToTheAPIOnly() async throws {
        let (server, other) = (try MockServer(), try MockServer())
        defer {
            server.stop()
            other.stop()
        }
        serveAda(other)
        try await makeAPI(server.url, tokens: makeTokens(login)).get(other.url)
        #expect(other.lines([.authorization]) == ["GET /"])
    }
}
