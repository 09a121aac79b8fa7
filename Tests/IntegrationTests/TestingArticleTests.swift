import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

/// The tests in the articles Testing.md and Downloads.md, and two more uses of the test kit: they pass.
@Suite(.againstHanging, .checksArchive) struct TestingArticleTests {
    struct User: Decodable, Sendable { let id: Int, name: String }
    let url = URL(string: "https://api.example.com")!

    @Test func showsAUser() async throws {
        let stub = StubTransport()
        stub.on(.get, "/users/42", .json(#"{"id":42,"name":"Ada"}"#))

        let client = Client(baseURL: url, interceptors: [.retry(maxAttempts: 3)], transport: stub)
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
        let sent = stub.requests.map { $0.headers[.authorization] }
        #expect(sent == ["Bearer old", "Bearer new"])
        try stub.verify()
    }

    @Test func aBusyServerIsAskedAgain() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        stub.enqueue(.status(503, headers: [.retryAfter: "20"]))
        stub.enqueue(.json(#"{"id":42,"name":"Ada"}"#).delayed(by: .seconds(2)))

        let retry: any Interceptor = .retry(maxAttempts: 3, time: .manual(clock))
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

    @Test func theServerSeesTheRequestAndHintsEarly() async throws {
        let server = try MockServer()
        server.on(.put, "/films/*") { request in
            let answer: StubAnswer = request.text == "Heat" ? .status(201) : .status(400)
            return answer.preceded(byInterim: 103, headers: [.link: "</style.css>; rel=preload"])
        }
        let (hints, hint) = AsyncStream.makeStream(of: Int.self)
        var request = HTTPRequest(method: .put, url: server.url.appending(path: "films/42"), body: "Heat")
        request.context.interim = { head in hint.yield(head.status.code) }
        let response = try await Client(baseURL: server.url, transport: .platform()).send(request)

        #expect(response.status == 201)
        hint.finish()
        #expect(await hints.reduce(into: []) { $0.append($1) } == [103])
        #expect(server.requests.map(\.target) == ["/films/42"])
        server.stop()
    }

    // From Downloads.md.
    @Test func aBrokenDownloadGoesOn() async throws {
        let film = Data(repeating: 7, count: 100_000)
        let version: HTTPFields = [.eTag: "\"1\"", .acceptRanges: "bytes"]
        let stub = StubTransport()
        stub.on(.get, "/film.mp4") { request in
            var fields = version
            guard request.headers[.range] == "bytes=40000-" else {
                fields[.contentLength] = "100000"
                let cut = TransportError(.connectionLost, "Cut.")
                return .stream([film.prefix(40_000)], thenFailing: cut, headers: fields)
            }
            fields[.contentRange] = "bytes 40000-99999/100000"
            return .data(Data(film.dropFirst(40_000)), status: 206, headers: fields)
        }
        let client = Client(baseURL: url, interceptors: [], transport: stub)
        let (file, clock) = (FileManager.default.temporaryDirectory.appending(path: UUID().uuidString), ManualClock())
        let resuming: DownloadResuming = .withinCall.trying(time: .manual(clock))
        _ = try await clock.run { try await client.download("/film.mp4", to: file, resuming: resuming) }

        #expect(try Data(contentsOf: file) == film)
        #expect(stub.requests.map { $0.headers[.range] } == [nil, "bytes=40000-"])
        try FileManager.default.removeItem(at: file)
    }
}
