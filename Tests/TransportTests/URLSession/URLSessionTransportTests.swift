import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging, .heavy) struct URLSessionTransportTests {
    let server: MockServer
    let transport = URLSessionTransport(timeouts: Timeouts(idle: nil))

    init() throws { server = try MockServer() }

    @Test func sendsMethodPathQueryAndBodyAndGivesTheResponse() async throws {
        server.enqueue(.status(201, headers: ["X-Answer": "42"], body: "made"))
        let request = try makeRequest(
            server,
            "/a%20b/c?x=1&y=%2B",
            .post,
            fields: [.contentType: "text/plain"],
            body: "hi"
        )
        let response = try await transport.send(request)
        #expect(response.status == 201)
        #expect(response.status.reasonPhrase == "Created")
        #expect(response.headers["x-answer"] == "42")
        #expect(response.url == request.url)
        #expect(response.body.data == Data("made"))
        let received = await server.requests(atLeast: 1)[0]
        #expect(received.method == .post)
        #expect(received.target == "/a%20b/c?x=1&y=%2B")
        #expect(received.headers[.contentType] == "text/plain")
        #expect(received.text == "hi")
    }

    @Test(arguments: [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "X-CUSTOM", "lower",
    ])
    func everyMethodGoesOutAsItIs(name: String) async throws {
        server.on(nil, "/**", .status(200, body: "ok"))
        let method = try #require(HTTPRequest.Method(rawValue: name))
        _ = try await transport.send(makeRequest(server, "/", method))
        #expect(await server.requests(atLeast: 1)[0].method == method)
    }

    @Test(arguments: [
        200, 201, 206, 226, 299, 300, 304, 305, 400, 401, 403, 404, 407, 418, 451, 500, 503, 599, 600, 799, 999,
    ])
    func everyStatusIsAResponse(code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        server.enqueue(.status(status, headers: ["X-A": "b"], body: "content"))
        let response = try await transport.send(makeRequest(server))
        #expect(response.status == status)
        #expect(response.headers["X-A"] == "b")
        #expect(try await content(of: response) == (code == 304 || code == 305 ? "" : "content"))
    }

    @Test(arguments: [204, 205, 304])
    func statusesWithoutContentHaveAnEmptyBody(code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        for mode in [ResponseBodyMode.buffered, .streamed] {
            server.enqueue(.status(status, headers: [.eTag: "\"a\""]))
            let response = try await transport.send(makeRequest(server, responseBody: mode))
            #expect(response.status == status)
            #expect(response.headers[.eTag] == "\"a\"")
            #expect(try await content(of: response) == "")
        }
    }

    @Test func headHasFieldsButNoContent() async throws {
        for mode in [ResponseBodyMode.buffered, .streamed] {
            server.enqueue(.status(200, headers: [.contentEncoding: "gzip"], body: "1234567"))
            let response = try await transport.send(makeRequest(server, "/", .head, responseBody: mode))
            #expect(response.headers[.contentLength] == "7")
            #expect(response.headers[.contentEncoding] == "gzip")
            #expect(response.body.isEmpty)
        }
    }

    @Test(arguments: [100, 102, 103]) func interimResponsesNeverShow(code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        let interim = StubAnswer.status(200, headers: ["X-A": "final"], body: "ok")
            .preceded(byInterim: status, headers: [.link: "</style.css>"])
            .preceded(byInterim: status, headers: ["X-A": "interim"])
        for mode in [ResponseBodyMode.buffered, .streamed] {
            server.enqueue(interim)
            let response = try await transport.send(makeRequest(server, responseBody: mode))
            #expect(response.status == 200)
            #expect(response.headers["X-A"] == "final")
            #expect(!response.headers.contains(.link))
            #expect(try await content(of: response) == "ok")
        }
    }

    /// Foundation doesn't report trailers, so no response claims that there were none. (On Linux, trailers crash the process.)
    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func trailersAreToldAsUnavailable(mode: ResponseBodyMode) async throws {
        server.enqueue(.stream([Data("ok")]))
        let response = try await transport.send(makeRequest(server, responseBody: mode))
        #expect(try await content(of: response) == "ok")
        let error = #expect(throws: TransportError.self) { try response.trailers }
        #expect(error?.code == .trailersUnavailable)
    }

    @Test func aSwitchOfProtocolsIsRefused() async throws {
        server.enqueue(.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nnoise"))
        #expect(try await failure { try await transport.send(makeRequest(server)) }.code == .unsupported)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectsAreGivenWithTheirContentAndNotFollowed(
        code: Int
    ) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        server.on(nil, "/next", .status(200, body: "followed"))
        for mode in [ResponseBodyMode.buffered, .streamed] {
            for method in [HTTPRequest.Method.get, .post] {
                server.enqueue(.status(status, headers: [.location: "/next"], body: "moved"))
                let response = try await transport.send(makeRequest(server, "/old", method, responseBody: mode))
                #expect(response.status == status)
                #expect(response.headers[.location] == "/next")
                #expect(response.url?.path == "/old")
                #expect(try await content(of: response) == "moved")
            }
        }
        #expect(server.requests.map(\.path) == Array(repeating: "/old", count: 4))
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectsWithoutALocationAreGiven(code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        for location in [nil, "http://[", ""] {
            server.enqueue(.status(status, headers: location.map { [.location: $0] } ?? [:]))
            let response = try await transport.send(makeRequest(server))
            #expect(response.status == status)
            #expect(response.body.isEmpty)
        }
    }

    #if canImport(FoundationNetworking)
    @Test func onLinuxTheContentOfARedirectWithoutLocationIsLostAndNotAnnounced() async throws {
        server.enqueue(.status(302, headers: ["X-A": "b"], body: "lost"))
        let response = try await transport.send(makeRequest(server))
        #expect(response.headers["X-A"] == "b")
        #expect(response.headers[.contentLength] == nil)
        #expect(response.body.isEmpty)
    }
    #endif

    @Test(arguments: [
        "Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer", "Negotiate", "Basic", "Bearer realm=\"x\"",
        "",
        "Bearer error=\"invalid_token\", Basic realm=\"x\"", "basic realm=\"x\"", "realm=", "🤷",
    ])
    func a401IsAResponseWhateverItsChallenge(challenge: String) async throws {
        server.on(.get, "/") { _ in
            StubAnswer.status(401, headers: [.wwwAuthenticate: challenge], body: "who are you")
        }
        for mode in [ResponseBodyMode.buffered, .streamed] {
            let response = try await transport.send(makeRequest(server, responseBody: mode))
            #expect(response.status == 401)
            #expect(response.headers[.wwwAuthenticate] == challenge)
            #expect(try await content(of: response) == "who are you")
        }
        #expect(server.requests.count == 2)
        #expect(!server.requests.contains { $0.headers.contains(.authorization) })
    }

    @Test func cookiesAreNeitherStoredNorSentBack() async throws {
        let cookies = ["a=1; Path=/; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b=2; Path=/"]
        server.on(.get, "/") { _ in
            var fields = HTTPFields()
            for cookie in cookies { fields.append(.setCookie, cookie) }
            return StubAnswer.status(200, headers: fields)
        }
        let first = try await transport.send(makeRequest(server))
        #expect(first.headers[values: .setCookie] == cookies)
        _ = try await transport.send(makeRequest(server))
        _ = try await URLSessionTransport().send(makeRequest(server))
        #expect(await server.requests(atLeast: 3).allSatisfy { !$0.headers.contains(.cookie) })
    }

    @Test func nothingIsCached() async throws {
        server.on(.get, "/") { _ in
            StubAnswer.status(200, headers: [.cacheControl: "max-age=3600, public", .eTag: "\"a\""], body: "fresh")
        }
        for _ in 0..<3 {
            let response = try await transport.send(makeRequest(server))
            #expect(response.status == 200)
            #expect(try await content(of: response) == "fresh")
        }
        let received = await server.requests(atLeast: 3)
        #expect(received.count == 3)
        #expect(!received.contains { $0.headers.contains(.ifNoneMatch) })
    }

    @Test func connectionsAreKept() async throws {
        server.on(.get, "/", .status(200, body: "ok"))
        for _ in 0..<5 { _ = try await transport.send(makeRequest(server)) }
        #expect(server.connectionsOpened == 1)
    }

    // "hello hello hello", compressed with gzip.
    private static let zipped = Data([
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40,
        0x90, 0x00, 0x80, 0x88, 0xF9, 0xE5, 0x11, 0x00, 0x00, 0x00,
    ])

    @Test func decodedContentLosesItsCodingAndLength() async throws {
        for mode in [ResponseBodyMode.buffered, .streamed] {
            server.enqueue(.status(200, headers: [.contentEncoding: "gzip", "X-A": "b"], body: Self.zipped))
            let response = try await transport.send(makeRequest(server, responseBody: mode))
            #expect(try await content(of: response) == "hello hello hello")
            #expect(response.headers[.contentEncoding] == nil)
            #expect(response.headers[.contentLength] == nil)
            #expect(response.headers["X-A"] == "b")
            #expect(response.body.length == (mode == .streamed ? nil : 17))
        }
    }

    @Test func decodedContentIsHeldToTheBufferLimit() async throws {
        server.enqueue(.status(200, headers: [.contentEncoding: "gzip"], body: Self.zipped))
        let error = try await failure {
            try await transport.send(makeRequest(server, responseBody: .buffered(upTo: 16)))
        }
        #expect(error.code == .bodyTooLarge)
    }

    @Test func brokenCodingsAreErrors() async throws {
        server.enqueue(.status(200, headers: [.contentEncoding: "gzip"], body: "not gzip"))
        #expect(try await failure { try await transport.send(makeRequest(server)) }.code == .invalidResponse)
    }

    @Test func chunkedContentIsPutTogether() async throws {
        let pieces = (0..<100).map { Data("piece \($0);") }
        for mode in [ResponseBodyMode.buffered, .streamed] {
            server.enqueue(.stream(pieces))
            let response = try await transport.send(makeRequest(server, responseBody: mode))
            #expect(try await response.body.collect(upTo: 1 << 20) == Data(pieces.joined()))
        }
    }

    @Test func contentThatEndsWithTheConnectionIsWhole() async throws {
        server.enqueue(.untilClose(Data("all of it")))
        #expect(try await content(of: transport.send(makeRequest(server))) == "all of it")
    }

    @Test func manyConcurrentCallsEachGetTheirOwnAnswer() async throws {
        server.on(.post, "/echo") { request in
            StubAnswer.status(200, headers: ["X-ID": request.queryValue("id") ?? ""], body: request.body)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 0..<200 {
                group.addTask {
                    let body = HTTPBody(String(repeating: "\(id),", count: id))
                    let response = try await transport.send(makeRequest(server, "/echo?id=\(id)", .post, body: body))
                    #expect(response.headers["X-ID"] == "\(id)")
                    #expect(response.body.data == body.data)
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 200)
    }

    @Test func aTransportThatNobodyHoldsFinishesWhatItBegan() async throws {
        let gate = Gate()
        let rest: [MockServer.Step] = [.run { await gate.opened() }, .send("late")]
        server.enqueue(StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")] + rest))
        let response = try await URLSessionTransport().send(makeRequest(server, responseBody: .streamed))
        gate.open()
        #expect(try await content(of: response) == "late")
    }

    @Test func aTransportThatNobodyHoldsClosesItsConnections() async throws {
        server.on(.get, "/", .status(200, body: "ok"))
        for count in 1...10 {
            do {
                let transport = URLSessionTransport(timeouts: Timeouts(idle: nil))
                _ = try await transport.send(makeRequest(server))
            }
            await server.closedConnections(count)
        }
    }

    @Test func staticFactoriesMakeTransports() async throws {
        func send(with transport: some Transport) async throws -> HTTPResponse.Status {
            server.enqueue(.status(202))
            return try await transport.send(makeRequest(server)).status
        }
        #expect(try await send(with: .urlSession(timeouts: Timeouts(total: .seconds(60)))) == 202)
        #expect(try await send(with: .platform()) == 202)
    }
}
