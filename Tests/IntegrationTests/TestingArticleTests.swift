import Foundation
import Middlewares
import TestSupport
import Testing
import TransportTesting

/// The tests in the article Testing.md, unchanged: they pass.
@Suite(.againstHanging, .checksArchive) struct TestingArticleTests {
    struct User: Decodable, Sendable { let id: Int, name: String }
    let url = URL(string: "https://api.example.com")!

    @Test func showsAUser() async throws {
        let stub = StubTransport()
        stub.on(.get, "/users/42", .json(#"{"id":42,"name":"Ada"}"#))

        let client = Client(baseURL: url, interceptors: [.retry(3)], transport: stub)
        let user: User = try await client.get("/users/42")

        #expect(user.name == "Ada")
        #expect(stub.requests.map(\.method) == [.get])
        try stub.verify()  // fails if an answer wasn't used, and names its line
    }

    @Test func aRejectedTokenIsRefreshedOnce() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(401), .json(#"{"id":42,"name":"Ada"}"#))
        let tokens = TokenStore(TokenStore.Token("old")) { _ in TokenStore.Token("new") }
        let client = Client(
            baseURL: url,
            interceptors: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: stub
        )
        let user: User = try await client.get("/users/42")

        #expect(user.id == 42)
        let sent = stub.requests.map { $0.headerFields[.authorization] }
        #expect(sent == ["Bearer old", "Bearer new"])
        try stub.verify()
    }

    @Test func aBusyServerIsAskedAgain() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        stub.enqueue(.status(503, headers: [.retryAfter: "20"]))
        stub.enqueue(.json(#"{"id":42,"name":"Ada"}"#).delayed(by: .seconds(2)))

        let retry: any Interceptor = .retry(3, time: .manual(clock))
        let client = Client(baseURL: url, interceptors: [retry], transport: stub)
        let user: User = try await clock.run { try await client.get("/users/42") }

        #expect(user.id == 42)
        #expect(clock.now.elapsed >= .seconds(22))
    }

    @Test func beingOfflineIsReported() async throws {
        let stub = StubTransport()
        stub.enqueue(.failure(TransportError(.offline, "There is no network.")))
        let client = Client(baseURL: url, interceptors: [], transport: stub)

        let error = await #expect(throws: TransportError.self) {
            try await client.get("/users/42")
        }
        #expect(error?.isOffline == true)
    }

    @Test func bytesAreCountedAsTheyAreRead() async throws {
        let stub = StubTransport()
        stub.enqueue(.stream([Data("ab".utf8), Data("c".utf8)]))
        let (counts, count) = AsyncStream.makeStream(of: Int.self)
        let counting: AnyInterceptor = .intercept { request, next in
            var response = try await next(request)
            response.body = response.body.map { chunk in
                count.yield(chunk.count)
                return chunk
            }
            return response
        }
        let chain = InterceptorChain([counting], transport: stub)
        let request = HTTPRequest(url: url, context: .with(\.responseBody, .streamed))
        let response = try await chain.send(request)

        #expect(stub.openBodies == 1)  // nothing was read yet
        #expect(try await response.text() == "abc")
        count.finish()
        #expect(await counts.reduce(into: []) { $0.append($1) } == [2, 1])
        try stub.verify()  // also fails if the stream wasn't read to its end
    }

    @Test func aResponseCutShortIsAnError() async throws {
        let server = try MockServer()
        server.enqueue(.closeInBody(after: 10, of: 100))
        let client = Client(baseURL: server.url, interceptors: [], transport: .platform())
        await #expect(throws: TransportError.self) { try await client.get("/film") }
        server.stop()
    }
}
