import Foundation
import InterceptorsTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The mock server with clients that programs really use.
@Suite(.againstHanging) struct MockServerClientTests {
    @Test func foundationsURLSessionGetsAnswers() async throws {
        let server = try MockServer()
        server.on(.get, "/users/*", .json(#"{"name":"Ada"}"#, headers: ["X-A": "1"]))
        server.on(.post, "/echo") { StubAnswer.status(201, body: $0.body) }
        server.on(.get, "/chunked", .stream([Data("ab".utf8), Data("cd".utf8)]))
        let session = URLSession(configuration: .ephemeral)
        let (data, response) = try await session.data(from: server.url.appending(path: "users/42"))
        #expect(String(decoding: data, as: UTF8.self) == #"{"name":"Ada"}"#)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-A") == "1")
        var request = URLRequest(url: server.url.appending(path: "echo"))
        request.httpMethod = "POST"
        request.httpBody = Data(repeating: 65, count: 100_000)
        let (echo, created) = try await session.data(for: request)
        #expect(echo == request.httpBody)
        #expect((created as? HTTPURLResponse)?.statusCode == 201)
        let (chunked, _) = try await session.data(from: server.url.appending(path: "chunked"))
        #expect(String(decoding: chunked, as: UTF8.self) == "abcd")
        session.invalidateAndCancel()
    }

    @Test func aCancelledCallClosesItsConnection() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .neverAnswer)
        let session = URLSession(configuration: .ephemeral)
        let call = Task { try await session.data(from: server.url) }
        await server.requests(atLeast: 1)
        call.cancel()
        await server.closedConnections(1)
        await #expect(throws: (any Error).self) { try await call.value }
        session.invalidateAndCancel()
    }

    @Test func hundredsOfClientsAreServedAtOnce() async throws {
        let server = try MockServer()
        server.on(nil, "/**") { StubAnswer.status(200, body: $0.path) }
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    let client = try RawClient(port: server.port)
                    for round in 0..<5 {
                        let answer = try await client.ask(Wire.get("/\(number)/\(round)"))
                        #expect(answer.body == "/\(number)/\(round)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 1000)
        #expect(server.connectionsOpened == 200)
        await server.closedConnections(200)
        #expect(server.connectionsOpen == 0)
    }
}
