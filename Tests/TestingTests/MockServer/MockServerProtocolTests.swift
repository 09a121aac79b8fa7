import Foundation
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct MockServerProtocolTests {
    @Test func aConnectionServesManyRequests() async throws {
        let server = try MockServer()
        server.on(nil, "/**") { StubAnswer.status(200, body: $0.path) }
        let client = try RawClient(port: server.port)
        for number in 1...50 {
            #expect(try await client.ask(Wire.get("/\(number)")).body == "/\(number)")
        }
        #expect(server.connectionsOpened == 1)
        #expect(server.requests.map(\.number) == Array(1...50))
    }

    @Test func pipelinedRequestsAreAnsweredInTheirOrder() async throws {
        let server = try MockServer()
        server.on(nil, "/**") { StubAnswer.status(200, body: "\($0.path)\($0.text);") }
        let client = try RawClient(port: server.port)
        let requests = (1...100).map { Wire.post("/\($0)", "b\($0)") }.joined()
        try await client.send(requests + Wire.get("/end", "Connection: close\r\n"))
        let bodies = try await client.receiveAll().split(separator: "\r\n").filter { $0.contains(";") }
        #expect(bodies.count == 101)
        #expect(bodies.prefix(3).map { $0.prefix { $0 != ";" } } == ["/1b1", "/2b2", "/3b3"])
    }

    @Test func aRequestMayComeByteByByte() async throws {
        let server = try MockServer()
        let client = try RawClient(port: server.port)
        server.enqueue(.status(200, body: "ok"))
        for byte in Wire.post("/x", "abc").utf8 { try await client.send(Data([byte])) }
        #expect(try await client.receiveResponse().body == "ok")
        #expect(server.requests.first?.text == "abc")
    }

    @Test func chunkedContentIsDecoded() async throws {
        let server = try MockServer()
        server.on(nil, "/**") { StubAnswer.status(200, body: $0.text) }
        let client = try RawClient(port: server.port)
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
        let answer = try await client.ask(head + "3\r\nabc\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\nX-Sum: 7\r\n\r\n")
        #expect(answer.body == "abc0123456789")
        #expect(server.requests[0].bodyLength == 13)
        #expect(try await client.ask(Wire.post("/", "next")).body == "next")
    }

    @Test func emptyLinesBeforeARequestAreSkipped() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200, body: "ok"))
        let client = try RawClient(port: server.port)
        #expect(try await client.ask("\r\n\r\n" + Wire.get()).body == "ok")
        try await client.send("\r")
        #expect(try await client.ask("\n" + Wire.get()).body == "ok")
    }

    @Test func versionsAndConnectionFieldsDecideWhetherAConnectionIsKept() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200, body: "ok"))
        let old = try RawClient(port: server.port)
        #expect(
            try await old.ask("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").head.contains(
                "Connection: keep-alive"
            )
        )
        try await old.send("GET / HTTP/1.0\r\n\r\n")
        #expect(try await old.receiveAll().contains("Connection: close"))
        let new = try RawClient(port: server.port)
        try await new.send(Wire.get("/", "Connection: x, Close\r\n"))
        #expect(try await new.receiveAll().contains("Connection: close"))
        #expect(server.requests.map(\.version) == ["1.0", "1.0", "1.1"])
    }

    @Test func theOtherFormsOfTargetsAreUnderstood() async throws {
        let server = try MockServer()
        server.on(.options, "*", .status(200, body: "asterisk"))
        server.on(.get, "/a", .status(200, body: "absolute"))
        server.on(.get, "/", .status(200, body: "root"))
        let client = try RawClient(port: server.port)
        #expect(try await client.ask(Wire.get("*", method: "OPTIONS")).body == "asterisk")
        #expect(try await client.ask(Wire.get("http://localhost/a?b=/c")).body == "absolute")
        #expect(try await client.ask(Wire.get("http://localhost")).body == "root")
        #expect(try await client.ask(Wire.get("http://localhost?q")).body == "root")
        #expect(server.requests.map(\.query) == [nil, "b=/c", nil, "q"])
    }

    @Test func anExpectationIsMetBeforeTheContentIsSent() async throws {
        let server = try MockServer()
        server.on(nil, "/**") { StubAnswer.status(200, body: $0.text) }
        let client = try RawClient(port: server.port)
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n"
        try await client.send(head)
        #expect(try await client.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(try await client.ask("abc").body == "abc")
        // Content that has already arrived needs no 100 Continue.
        #expect(try await client.ask(head + "def").head.hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func aRouteMayAnswerBeforeTheContentIsSent() async throws {
        let server = try MockServer()
        server.on(.put, "/**", readsBody: false) { _ in StubAnswer.status(401, body: "no") }
        let client = try RawClient(port: server.port)
        let head = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\nExpect: 100-continue\r\n\r\n"
        try await client.send(head)
        #expect(
            try await client.receiveAll().hasPrefix(
                "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close"
            )
        )
        #expect(server.requests[0].body.isEmpty)
    }

    @Test func theAnswerSurvivesContentThatNobodyReads() async throws {
        let server = try MockServer(bodyLimit: 10)
        let client = try RawClient(port: server.port)
        // The server has answered while the client still sends: closing the connection now would reset it.
        try await client.send(Wire.post("/", String(repeating: "x", count: 1_000_000)))
        #expect(try await client.receiveAll().hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
    }

    @Test func anUploadComesToAHaltWhenNobodyReads() async throws {
        try await expectNoticed(after: 200_000, byReset: true)
    }

    /// The server reads ahead up to a limit, and must notice the end of the connection behind unread bytes too.
    @Test func clientThatLeavesBehindUnreadContentIsGone() async throws {
        try await expectNoticed(after: 100_000, byReset: false)
    }

    /// Waits until the server notices that a client has left while nobody reads its content.
    private func expectNoticed(after count: Int, byReset: Bool) async throws {
        let server = try MockServer()
        server.on(.put, "/**", .neverAnswer, readsBody: false)
        let client = try RawClient(port: server.port)
        try await client.send(
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n" + String(repeating: "x", count: count)
        )
        await server.requests(atLeast: 1)
        client.close(byReset: byReset)
        await server.closedConnections(1)
    }

    @Test func onlyTheBeginningOfABigContentIsKept() async throws {
        let server = try MockServer(keptBodyLimit: 5)
        server.on(nil, "/**", .status(200, body: "ok"))
        let client = try RawClient(port: server.port)
        #expect(try await client.ask(Wire.post("/", "0123456789")).body == "ok")
        #expect(server.requests[0].text == "01234")
        #expect(server.requests[0].bodyLength == 10)
    }

    @Test func sizesAreBounded() async throws {
        let server = try MockServer(headLimit: 200, bodyLimit: 10)
        server.on(nil, "/**", .status(200))
        let cases = [
            (Wire.get("/" + String(repeating: "a", count: 300)), 431),
            (Wire.get("/", "X: " + String(repeating: "a", count: 200) + "\r\n"), 431),
            (String(repeating: "a", count: 300), 431),
            (Wire.post("/", String(repeating: "a", count: 10)), 200),
            (Wire.post("/", String(repeating: "a", count: 11)), 413),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nB\r\n01234567890\r\n0\r\n\r\n", 413),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n01234567890\r\n",
                413
            ),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 413),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;"
                    + String(repeating: "x", count: 300), 400
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                    + String(repeating: "a: b\r\n", count: 99) + "\r\n", 431
            ),
        ]
        for (text, status) in cases {
            let client = try RawClient(port: server.port)
            let answer = try await client.ask(text)
            #expect(answer.head.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(100))")
        }
    }

    @Test func aValueThatIsNotUTF8IsReadAsLatin1() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200))
        let client = try RawClient(port: server.port)
        try await client.send(
            Data("GET / HTTP/1.1\r\nHost: h\r\nX-Name: ".utf8) + [0xE9] + Data("\r\nX-UTF: é\r\n\r\n".utf8)
        )
        _ = try await client.receiveResponse()
        #expect(server.requests[0].headers["X-Name"] == "é")
        #expect(server.requests[0].headers["X-UTF"] == "é")
    }
}
