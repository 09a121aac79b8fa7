import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct MockServerTests {

    @Test func listensOnLoopbackAlone() throws {
        let server = try MockServer()
        #expect(server.url.absoluteString == "http://127.0.0.1:\(server.port)")
        #expect(server.port > 0)
    }

    @Test func answersFromTheQueueInItsOrder() async throws {
        let server = try MockServer()
        server.enqueue(.status(200, body: "first"), StubAnswer.status(201, headers: ["X-Kind": "b"], body: "second"))
        let client = try RawClient(port: server.port)
        let first = try await client.ask(Wire.get("/a"))
        #expect(first.head == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        #expect(first.body == "first")
        let second = try await client.ask(Wire.get("/b"))
        #expect(second.head == "HTTP/1.1 201 Created\r\nX-Kind: b\r\nContent-Length: 6\r\n\r\n")
        #expect(second.body == "second")
        #expect(server.queuedResponses == 0)
    }

    @Test func mostSpecificRouteAnswersAndElseTheNewest() async throws {
        let server = try MockServer()
        server.on(.get, "/users/*") { request in .json("user \(request.path)") }
        server.on(nil, "/**", .text("any"))
        let client = try RawClient(port: server.port)
        #expect(try await client.ask(Wire.get("/users/42")).body == "user /users/42")
        #expect(try await client.ask(Wire.get("/users/42/name")).body == "any")
        server.on(.get, "/*/42", .json(#"{"a":1}"#))
        let answer = try await client.ask(Wire.get("/users/42?x=1"))
        #expect(answer.head.contains("Content-Type: application/json\r\n"))
        #expect(answer.body == #"{"a":1}"#)
    }

    @Test func recordsRequestsAsTheyCame() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200))
        let client = try RawClient(port: server.port)
        _ = try await client.ask(
            "POST /a%20b?x=1&y=a+b%26 HTTP/1.1\r\nhOST: h\r\nX-One: 1\r\nx-one:  2 \r\nContent-Length: 3\r\n\r\nabc"
        )
        _ = try await client.ask(Wire.get("/second?a[]=1&y=a+b&r=100%&b=%FF"))
        let other = try RawClient(port: server.port)
        _ = try await other.ask(Wire.get("/third"))
        let requests = await server.requests(atLeast: 3)
        let first = requests[0]
        #expect(first.method == .post)
        #expect(first.target == "/a%20b?x=1&y=a+b%26")
        #expect(first.path == "/a%20b")
        #expect(first.query == "x=1&y=a+b%26")
        #expect(first.queryValue("y") == "a b&")
        #expect(first.queryValue("z") == nil)
        // Characters that a URI doesn't allow there leave the other values alone.
        #expect(["a[]", "y", "r", "b"].map(requests[1].queryValue) == ["1", "a b", "100%", "%FF"])
        #expect(first.headers.map(\.name.rawName) == ["hOST", "X-One", "x-one", "Content-Length"])
        #expect(first.headers[values: "X-One"] == ["1", "2"])
        #expect(first.text == "abc")
        #expect(requests.map(\.connection) == [1, 1, 2])
        #expect(requests.map(\.number) == [1, 2, 1])
        #expect(server.connectionsOpened == 2)
    }

    @Test func anUnmatchedRequestNamesItselfAndWhatWasOnOffer() async throws {
        let server = try MockServer()
        server.on(.get, "/users/*", .status(200))
        server.on(nil, "/any", .status(200))
        server.enqueue(.status(200, body: "taken"))
        let client = try RawClient(port: server.port)
        _ = try await client.ask(Wire.get("/1"))
        let answer = try await client.ask("DELETE /users/42?a=1 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(answer.head.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(answer.body.contains("DELETE /users/42?a=1"))
        #expect(answer.body.contains("GET /users/*"))
        #expect(answer.body.contains("any method /any"))
        #expect(answer.body.contains("Did you mean GET /users/*? This request's method is DELETE."))
        #expect(answer.body.contains("MockServerTests.swift:"))
        #expect(answer.body.contains("The queue is empty; 1 of its answers were taken."))
    }

    @Test func aRouteThatThrowsIsA500ThatSaysWhat() async throws {
        let server = try MockServer()
        server.on(.get, "/x") { _ in throw Broken(place: "the route") }
        let answer = try await RawClient(port: server.port).ask(Wire.get("/x"))
        #expect(answer.head.hasPrefix("HTTP/1.1 500 "))
        #expect(answer.body.contains("the route"))
    }
}
