import Foundation
import Interceptors
import InterceptorsTesting
import Models
import Synchronization
import Testing

@testable import AfterURLSession
@testable import BeforeURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.againstHanging)
struct URLSessionTests {
    private let ada = User(id: 42, name: "Ada")

    private func before(_ url: URL) -> BeforeURLSession.Users {
        BeforeURLSession.Users(session: URLSession(configuration: .ephemeral), baseURL: url)
    }

    private func after(_ url: URL) -> AfterURLSession.Users {
        AfterURLSession.Users(api: makeAPI(url))
    }

    @Test func bothGetAndDecode() async throws {
        let result = try await compared {
            $0.enqueue(.json(#"{"id":42,"name":"Ada"}"#))
        } before: {
            try await before($0).user(42)
        } after: {
            try await after($0).user(42)
        }
        #expect(result.values == (ada, ada))
        #expect(result.lines == (["GET /users/42"], ["GET /users/42"]))
    }

    @Test func bothThrowForAStatusOutside2xx() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "**", .status(404, body: "{}"))
        await #expect(throws: URLError.self) { try await before(server.url).user(42) }
        let error = await #expect(throws: StatusError.self) { try await after(server.url).user(42) }
        #expect(error?.status == 404)
    }

    @Test func bothEncodeAQuery() async throws {
        let result = try await compared {
            $0.enqueue(.json(#"[{"id":42,"name":"Ada"}]"#))
        } before: {
            try await before($0).search("Ada Lovelace", page: 2)
        } after: {
            try await after($0).search("Ada Lovelace", page: 2)
        }
        #expect(result.values == ([ada], [ada]))
        #expect(result.lines.before == ["GET /users?name=Ada%20Lovelace&page=2"])
        #expect(result.lines.after == result.lines.before)
    }

    @Test func bothPostJSON() async throws {
        let result = try await compared(showing: .contentType) {
            $0.enqueue(.json(#"{"id":42,"name":"Ada"}"#, status: 201))
        } before: {
            try await before($0).create(NewUser(name: "Ada"))
        } after: {
            try await after($0).create(NewUser(name: "Ada"))
        }
        #expect(result.values == (ada, ada))
        #expect(result.lines.before == [#"POST /users Content-Type: application/json {"name":"Ada"}"#])
        #expect(result.lines.after == result.lines.before)
    }

    @Test func bothSendTheSameMultipartForm() async throws {
        let result = try await compared {
            $0.enqueue(.status(204))
        } before: {
            try await before($0).upload(photo: Data("jpeg".utf8), title: "Ada")
        } after: {
            try await after($0).upload(photo: Data("jpeg".utf8), title: "Ada")
        }
        #expect(result.lines.before == [photoForm])
        #expect(result.lines.after == [photoForm])
    }

    @Test func bothRefreshOnceForParallelCalls() async throws {
        let login = Login(token: "old", refreshToken: "r1")
        let result = try await compared(showing: .authorization, serve: serveUsers) { url in
            let session = SignedInSession(session: URLSession(configuration: .ephemeral), baseURL: url, login: login)
            return try await inParallel {
                let request = URLRequest(url: url.appending(path: "users/42"))
                return try await JSONDecoder().decode(User.self, from: session.data(for: request))
            }
        } after: { url in
            let (api, _) = makeSignedInAPI(url, login: login)
            return try await inParallel { try await api.get("/users/42") }
        }
        for (users, lines) in [(result.values.before, result.lines.before), (result.values.after, result.lines.after)] {
            #expect(users == [ada, ada, ada])
            #expect(lines.filter { $0.hasPrefix("POST /refresh") }.count == 1)
            #expect(lines.filter { $0 == "GET /users/42 Authorization: Bearer new" }.count == 3)
        }
    }

    private func inParallel(_ call: @escaping @Sendable () async throws -> User) async throws -> [User] {
        try await withThrowingTaskGroup(of: User.self) { group in
            for _ in 0..<3 { group.addTask { try await call() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func bothTryAGetThreeTimes() async throws {
        let result = try await compared {
            let busy = StubAnswer.status(503, headers: [.retryAfter: "0"])
            $0.enqueue(busy, busy, .text("Ada"))
        } before: {
            try await before($0).dataWithRetry("users", pause: .zero)
        } after: {
            try await makeAPI($0).get("/users", as: Data.self)
        }
        #expect(result.values == (Data("Ada".utf8), Data("Ada".utf8)))
        #expect(result.lines.before == ["GET /users", "GET /users", "GET /users"])
        #expect(result.lines.after == result.lines.before)
    }

    @Test func bothFollowRedirectsAndSendCookiesBack() async throws {
        func serve(_ server: MockServer) {
            server.on(.get, "/users/41", .status(302, headers: [.location: "/users/42", .setCookie: "seen=1"]))
            server.on(.get, "/users/42", .json(#"{"id":42,"name":"Ada"}"#))
        }
        let result = try await compared(showing: .cookie, serve: serve) {
            try await before($0).user(41)
        } after: {
            try await after($0).user(41)
        }
        #expect(result.values == (ada, ada))
        #expect(result.lines.before == ["GET /users/41", "GET /users/42 Cookie: seen=1"])
        #expect(result.lines.after == result.lines.before)
    }

    @Test func anExistingRequestGoesThroughTheChain() async throws {
        let result = try await compared(showing: "X-Kind") {
            $0.enqueue(.text("Ada"))
        } before: { url in
            var request = URLRequest(url: url.appending(path: "users"))
            request.setValue("old", forHTTPHeaderField: "X-Kind")
            return try await String(decoding: URLSession.shared.data(for: request).0, as: UTF8.self)
        } after: { url in
            var request = URLRequest(url: url.appending(path: "users"))
            request.setValue("old", forHTTPHeaderField: "X-Kind")
            return try await after(url).response(to: request).text()
        }
        #expect(result.values == ("Ada", "Ada"))
        #expect(result.lines.before == ["GET /users X-Kind: old"])
        #expect(result.lines.after == result.lines.before)
    }

    @Test func theLogHidesTheToken() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.enqueue(.json(#"{"id":42,"name":"Ada"}"#), .json("{}"))
        let entries = Mutex<[String]>([])
        let api = makeLoggedAPI(server.url, log: LogSink { entry in entries.withLock { $0.append(entry.text) } })
        try await api.get("/users/42", headers: [.authorization: "Bearer secret"])
        let log = entries.withLock { $0.joined(separator: "\n") }
        #expect(log.contains("/users/42") && log.contains("Ada"))
        #expect(!log.contains("secret"))

        _ = try await before(server.url).loggedData(for: URLRequest(url: server.url))
    }

    @Test func aStoredResponseIsReadWithoutANetwork() async throws {
        let server = try MockServer()
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        server.enqueue(.json(#"{"id":42,"name":"Ada"}"#, headers: [.cacheControl: "max-age=60"]))
        let api = makeCachingAPI(server.url, directory: folder)
        let fresh = try await api.get("/users/42", as: Data.self)
        server.stop()
        #expect(try await storedData("/users/42", in: api) == fresh)
    }

    @Test func theStubProtocolAnswersWithoutANetwork() async throws {
        let url = try #require(URL(string: "https://api.example.com"))
        StubProtocol.answers = ["/users/42": (200, #"{"id":42,"name":"Ada"}"#)]
        let stubbed = BeforeURLSession.Users(session: stubbedSession(), baseURL: url)
        #expect(try await stubbed.user(42) == ada)
    }

    #if os(Linux)
    @Test func aPinnedServerIsAcceptedAndAnotherRefused() async throws {
        let root = try TestAuthority()
        let server = try MockServer(tls: root.issue())
        defer { server.stop() }
        server.on(.get, "/", .json("{}"))
        let trust = TLSTrust.only([root.certificate])
        try await makePinnedAPI(server.url, pins: [root.certificate.certificatePin], trust: trust).get("/")
        let other = try TestAuthority().certificate.certificatePin
        let error = await #expect(throws: TransportError.self) {
            try await makePinnedAPI(server.url, pins: [other], trust: trust).get("/")
        }
        #expect(error?.code == .tlsFailed)
    }
    #endif
}
