import Foundation
import Interceptors
import InterceptorsInsight
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

/// A request's whole way: client, chain, a real socket, a server, and back.
@Suite(.againstHanging, .heavy, .checksArchive) struct ChainOverSocketsTests {
    struct User: Codable, Sendable, Equatable {
        let id: Int
        let name: String
    }

    let server: MockServer
    let log = Notes<LogEntry>()

    init() throws {
        server = try MockServer()
        server.on(.get, "/v1/users/*") { request in
            guard request.headers[.authorization] == "Bearer fresh" else { return StubAnswer.status(401) }
            guard request.path.hasSuffix("/42") else { return .json(#"{"code":404,"message":"No such user."}"#) }
            return .json(#"{"code":200,"object":{"id":42,"name":"Ada"},"message":"OK"}"#)
        }
        server.on(.post, "/v1/users") { request in
            .json(#"{"code":200,"object":\#(request.text),"message":"OK"}"#)
        }
    }

    private func makeClient(_ tokens: TokenStore) -> Client {
        Client(
            baseURL: server.url.appending(path: "v1"),
            interceptors: [
                .unwrapEnvelope(payload: "object"),
                .validateStatus(),
                .headers([.acceptLanguage: "en"]),
                .transactionID(),
                .retryOnUnauthorized(tokens),
                .bearerAuth(tokens),
                .logging(.body, to: LogSink { [log] entry in log.add(entry) }),
            ],
            observer: ArchiveTrait.journal
        )
    }

    private func makeTokens(_ first: String = "stale", refreshes: Tally = Tally()) -> TokenStore {
        TokenStore(TokenStore.Token(first)) { _ in
            refreshes.count()
            return TokenStore.Token("fresh")
        }
    }

    @Test func aStaleTokenIsRefreshedAndThePayloadDecoded() async throws {
        let user: User = try await makeClient(makeTokens()).get("/users/42")
        #expect(user == User(id: 42, name: "Ada"))
        let sent = server.requests
        #expect(sent.map(\.headers[.authorization]) == ["Bearer stale", "Bearer fresh"])
        #expect(Set(sent.map(\.headers[.transactionID])).count == 1)
        #expect(sent.allSatisfy { $0.headers[.acceptLanguage] == "en" })
    }

    @Test func manyParallelCallsWithAStaleTokenRefreshOnce() async throws {
        let refreshes = Tally()
        let client = makeClient(makeTokens(refreshes: refreshes))
        try await withThrowingTaskGroup(of: User.self) { group in
            for _ in 0..<50 { group.addTask { try await client.get("/users/42") } }
            for try await user in group { #expect(user.id == 42) }
        }
        #expect(refreshes.value == 1)
    }

    @Test func aRefusalInsideA200IsAnEnvelopeError() async throws {
        let client = makeClient(makeTokens("fresh"))
        let error = await #expect(throws: EnvelopeError.self) { let _: User = try await client.get("/users/7") }
        #expect(error?.serverCode == 404)
        #expect(error?.serverMessage == "No such user.")
    }

    @Test func aValueGoesThereAndComesBack() async throws {
        let ada = User(id: 1, name: "Ada & Söhne 🚲")
        let echoed: User = try await makeClient(makeTokens("fresh")).post("/users", body: ada)
        #expect(echoed == ada)
    }

    @Test func noSecretReachesTheLogAtItsMostVerbose() async throws {
        let user: User = try await makeClient(makeTokens()).get("/users/42", query: ["access_token": "hush"])
        #expect(user.id == 42)
        let text = log.all.map(\.description).joined(separator: "\n")
        #expect(text.contains("/v1/users/42"))
        for secret in ["hush", "Bearer stale", "Bearer fresh"] { #expect(!text.contains(secret)) }
    }

    @Test func aTokenNeverReachesAnotherOrigin() async throws {
        let other = try MockServer()
        other.on(.get, "/steal", .json(#"{"code":200,"object":{"id":1,"name":"x"}}"#))
        let target = RequestTarget(text: other.url.appending(path: "steal").absoluteString)
        let _: User = try await makeClient(makeTokens("fresh")).get(target)
        #expect(other.requests.count == 1)
        #expect(!other.requests.contains { $0.headers.contains(.authorization) })
    }

    @Test func aServerThatSpeaksGarbageIsAnErrorThatNamesTheRequest() async throws {
        server.on(.get, "/v1/garbage", .garbage)
        let client = makeClient(makeTokens("fresh"))
        let error = await #expect(throws: TransportError.self) { let _: User = try await client.get("/garbage") }
        #expect(error?.request?.url.hasSuffix("/v1/garbage") == true)
        #expect(error?.request?.method == .get)
    }

    @Test func aCancelledCallIsLoggedAsCancelledAndLetsItsConnectionGo() async throws {
        server.on(.get, "/v1/never", .neverAnswer)
        let client = makeClient(makeTokens("fresh"))
        let call = Task { let _: User = try await client.get("/never") }
        _ = await server.requests(atLeast: 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await server.closedConnections(1)
        #expect(log.all.map(\.event) == [.request, .cancellation])
    }
}
