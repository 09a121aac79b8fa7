import Foundation
import Interceptors
import InterceptorsAuthentication
import InterceptorsTesting
import Models
import Synchronization
import Testing

@testable import AfterInHouse
@testable import BeforeInHouse

@Suite(.againstHanging)
struct InHouseTests {
    private let ada = User(id: 42, name: "Ada")

    // MARK: A delegate with a bearer hook

    @Test func bothLogInAfterA401AndSendAgain() async throws {
        let result = try await compared(showing: .authorization, serve: serveUsers) { url in
            let account = OldAccount()
            let networking = Networking(baseURL: url)
            networking.delegate = account
            return try await value { networking.get("users/42", completion: $0) }
        } after: { url in
            let account = NewAccount()
            return try await makeAPI(url, asking: account).get("/users/42", as: User.self)
        }
        #expect(result.values == (ada, ada))
        #expect(
            result.lines.before == [
                "GET /users/42 Authorization: Bearer old", "GET /users/42 Authorization: Bearer new",
            ]
        )
        #expect(result.lines.after == result.lines.before)
    }

    @Test func parallel401sLogInOnce() async throws {
        let server = try MockServer()
        defer { server.stop() }
        serveUsers(server)
        let account = NewAccount()
        let api = makeAPI(server.url, asking: account)
        try await withThrowingTaskGroup(of: User.self) { group in
            for _ in 0..<10 { group.addTask { try await api.get("/users/42") } }
            for try await user in group { #expect(user == ada) }
        }
        #expect(await account.logIns == 1)
    }

    @Test func theTokenStoreRefreshesInPlaceOfTheDelegate() async throws {
        let server = try MockServer()
        defer { server.stop() }
        serveUsers(server)
        let tokens = makeTokens(saved: TokenStore.Token("old", refreshToken: "r1"))
        let api = makeAPI(server.url, tokens: tokens)
        let user = try await value { completion in
            showUser(42, with: api) { completion($0) }
        }
        #expect(user == ada)
        #expect(
            server.lines([.authorization]) == [
                "GET /users/42 Authorization: Bearer old", #"POST /refresh {"token":"r1"}"#,
                "GET /users/42 Authorization: Bearer new",
            ]
        )
    }

    // MARK: Signed endpoints and stub tables

    @Test func bothSignAlike() async throws {
        let date = Date(timeIntervalSince1970: 1_767_225_600)
        let time = TimeSource.manual(ManualClock(), startingAt: date)
        let result = try await compared(showing: "X-Time", "X-Signature") {
            $0.enqueue(.json(#"[{"id":42,"name":"Ada"}]"#))
        } before: { url in
            try await ShopAPI(baseURL: url, secret: "s3cret", now: { date })
                .call(.search(name: "Ada L", page: 2), as: [User].self)
        } after: { url in
            try await makeShopAPI(url, secret: SigningKey("s3cret"), time: time)
                .call(AfterInHouse.ShopEndpoint.search(name: "Ada L", page: 2), as: [User].self)
        }
        #expect(result.values == ([ada], [ada]))
        let start = "GET /products?name=Ada%20L&page=2 X-Time: 1767225600 X-Signature: "
        #expect(result.lines.before.first?.hasPrefix(start) == true)
        #expect(result.lines.after == result.lines.before)
    }

    @Test func bothAnswerFromFilesWhenStubbed() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "product.json")
        try Data(#"{"id":42,"name":"Ada"}"#.utf8).write(to: file)
        let url = try #require(URL(string: "https://shop.example.com"))

        let before = ShopAPI(baseURL: url, secret: "s3cret")
        before.isStubbed = true
        before.stubs = [.product(id: 42): file]
        #expect(try await before.call(.product(id: 42), as: User.self) == ada)

        let after = makeShopAPI(url, secret: SigningKey("s3cret"), transport: makeStubs(in: folder))
        #expect(try await after.call(AfterInHouse.ShopEndpoint.product(id: 42), as: User.self) == ada)
    }

    // MARK: Operation queues with mock sessions

    @Test func bothLoadTwoAtATime() async throws {
        let running = Mutex((now: 0, most: 0))
        let result = try await compared { server in
            running.withLock { $0 = (0, 0) }
            server.on(.get, "/users/*") { request in
                running.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                for _ in 0..<100 { await Task.yield() }
                running.withLock { $0.now -= 1 }
                return .json(#"{"id":\#(request.path.dropFirst(7)),"name":"Ada"}"#)
            }
        } before: { url in
            let loader = UserLoader(baseURL: url)
            let users = await withCheckedContinuation { done in
                loader.users([1, 2, 3, 4, 5, 6]) { done.resume(returning: $0) }
            }
            #expect(running.withLock { $0.most } <= 2)
            return users
        } after: { url in
            let loaded = try await users([1, 2, 3, 4, 5, 6], from: makeAPI(url, transport: .platform()))
            #expect(running.withLock { $0.most } <= 2)
            return loaded
        }
        #expect(result.values.before.map(\.id) == [1, 2, 3, 4, 5, 6])
        #expect(result.values.after == result.values.before)
        #expect(result.lines.before.sorted() == result.lines.after.sorted())
    }

    @Test func bothAreTestedWithoutANetwork() async throws {
        let url = try #require(URL(string: "https://api.example.com"))
        let mock = MockSession()
        mock.bodies["/users/42"] = #"{"id":42,"name":"Ada"}"#
        let loader = UserLoader(baseURL: url, session: mock)
        let before = await withCheckedContinuation { done in
            loader.users([42]) { done.resume(returning: $0) }
        }
        let after = try await users([42], from: makeAPI(url, transport: .stub(.json(#"{"id":42,"name":"Ada"}"#))))
        #expect(before == [ada])
        #expect(after == [ada])
    }

    // MARK: ETag stores

    @Test func bothRevalidateAndWorkOffline() async throws {
        func serve(_ server: MockServer) {
            server.on(.get, "/users/42") { request in
                request.headers[.ifNoneMatch] == "\"v1\""
                    ? .status(304, headers: [.eTag: "\"v1\""])
                    : .json(#"{"id":42,"name":"Ada"}"#, headers: [.eTag: "\"v1\""])
            }
        }
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await compared(showing: .ifNoneMatch, serve: serve) { url in
            var loader = ETagLoader(store: ETagStore(file: folder.appending(path: "etags.json")))
            let address = url.appending(path: "users/42")
            let online = [try await loader.data(from: address), try await loader.data(from: address)]
            loader.isOffline = true
            return online + [try await loader.data(from: address)]
        } after: { url in
            let api = makeAPI(url, cache: folder)
            return [
                try await data("/users/42", from: api, isOffline: false),
                try await data("/users/42", from: api, isOffline: false),
                try await data("/users/42", from: api, isOffline: true),
            ]
        }
        #expect(result.values.before == Array(repeating: Data(#"{"id":42,"name":"Ada"}"#.utf8), count: 3))
        #expect(result.values.after == result.values.before)
        #expect(result.lines.before == ["GET /users/42", "GET /users/42 If-None-Match: \"v1\""])
        #expect(result.lines.after == result.lines.before)
    }

    // MARK: A small generic service

    @Test func bothUnwrapTheData() async throws {
        let result = try await compared {
            $0.enqueue(.json(#"{"status":"ok","data":{"id":42,"name":"Ada"}}"#))
        } before: { url in
            try await value { Service<User>(baseURL: url).fetch(path: "users/42", completion: $0) }
        } after: { url in
            try await user(42, from: makeAPI(url))
        }
        #expect(result.values.before == ada)
        #expect(result.values.after == ada)
        #expect(result.lines == (["GET /users/42"], ["GET /users/42"]))
    }

    @Test func bothReportTheErrorInA200() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "**", .json(#"{"status":"not_found","message":"No such user."}"#))
        let url = server.url
        let before = await #expect(throws: ServiceError.self) {
            try await value { Service<User>(baseURL: url).fetch(path: "users/42", completion: $0) }
        }
        #expect(before?.status == "not_found")
        #expect(try await user(42, from: makeAPI(url)) == nil)
        let after = await #expect(throws: EnvelopeError.self) { try await makeAPI(url).get("/users/42", as: User.self) }
        #expect(after?.serverMessage == before?.message)
    }
}

private func value(
    _ call: (@escaping @Sendable (Result<User, any Error>) -> Void) -> Void
) async throws -> User {
    try await withCheckedThrowingContinuation { continuation in call { continuation.resume(with: $0) } }
}

private final class OldAccount: BeforeInHouse.NetworkingDelegate {
    private var token = "old"

    func bearerToken() -> String? { token }
    func didReceiveUnauthorized(completion: @escaping (Bool) -> Void) {
        token = "new"
        completion(true)
    }
}

private actor NewAccount: AfterInHouse.NetworkingDelegate {
    private var token = "old"

    private(set) var logIns = 0

    func bearerToken() -> String? { token }
    func logIn() {
        logIns += 1
        token = "new"
    }
}
