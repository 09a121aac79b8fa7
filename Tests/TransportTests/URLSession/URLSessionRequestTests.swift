import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct URLSessionRequestTests {
    let server: MockServer
    let transport = URLSessionTransport(timeouts: Timeouts(idle: nil))

    init() throws {
        server = try MockServer()
        server.on(nil, "/**", .status(200, body: "ok"))
    }

    private func sent(
        _ fields: HTTPFields,
        _ method: HTTPRequest.Method = .get,
        body: HTTPBody = .empty
    ) async throws
        -> HTTPFields
    {
        _ = try await transport.send(makeRequest(server, "/", method, fields: fields, body: body))
        return await server.requests(atLeast: 1)[0].headers
    }

    private func refusal(_ request: HTTPRequest) async throws -> TransportError {
        let error = try await failure { try await transport.send(request) }
        #expect(server.requests.isEmpty)
        #expect(server.connectionsOpened == 0)
        return error
    }

    @Test(arguments: [
        ("Host", "other.example"), ("Connection", "close"), ("Accept", "text/plain"), ("Accept-Encoding", "identity"),
        ("Accept-Language", "eo"), ("Authorization", "Bearer x"), ("Cookie", "a=b; c=d"), ("User-Agent", "me/1.0"),
        ("Range", "bytes=0-1"), ("TE", "trailers"), ("Referer", "https://a.example/"), ("X-Empty", ""),
        ("X-Unicode", "caf\u{E9} \u{2603}"), ("x!#$%&'*+-.^_`|~1", "odd name"), ("X-Comma", "a,b;c=\"d\""),
        ("If-None-Match", "\"a\""), ("Cache-Control", "only-if-cached"), ("Keep-Alive", "timeout=5"), ("DNT", "1"),
        ("Proxy-Authorization", "Basic eA=="), ("WWW-Authenticate", "x"), ("X-Colon", ": a:"), ("X-Semicolon", ";"),
        ("X-Tab", "a\tb"),
    ])
    func aFieldGoesOutAsItIs(name: String, value: String) async throws {
        let name = try #require(HTTPField.Name(name))
        let fields = try await sent([HTTPField(unchecked: name, value)])
        #expect(fields[values: name] == [value])
    }

    @Test func fieldsOfOneNameGoOutAsOne() async throws {
        let fields = try await sent(["X-A": "1", "x-a": "2", "X-A": "3,4", .cookie: "a=1", .cookie: "b=2"])
        #expect(fields[values: "X-A"] == ["1, 2, 3,4"])
        #expect(fields[values: .cookie] == ["a=1; b=2"])
    }

    @Test func expectContinueIsHonoured() async throws {
        let fields = try await sent([.expect: "100-continue"], .post, body: "content")
        #expect(fields[.expect] == "100-continue")
        #expect(server.requests[0].text == "content")
    }

    @Test func noContentTypeIsMadeUpButOctetStream() async throws {
        for body in [HTTPBody("text"), .oneShot(AsyncStream { $0.finish() })] {
            _ = try await transport.send(makeRequest(server, "/", .post, body: body))
        }
        for request in await server.requests(atLeast: 2) {
            #expect(request.headers[.contentType] == "application/octet-stream")
        }
    }

    @Test func aBodyOfNothingHasNoContentType() async throws {
        #expect(try await sent([:], .post)[.contentType] == nil)
        #expect(server.requests[0].headers[.contentLength] == "0")
    }

    @Test func theContentLengthIsSentOnce() async throws {
        let fields = try await sent([.contentLength: "4"], .post, body: "text")
        #expect(fields[values: .contentLength] == ["4"])
        #expect(!fields.contains(.transferEncoding))
    }

    @Test func whatIsInvalidIsRefused() async throws {
        for field in [
            HTTPField(unchecked: "X", "a\r\nY: b"), HTTPField(unchecked: "X", "a\0"), HTTPField(unchecked: "a b", "c"),
        ] {
            #expect(try await refusal(makeRequest(server, fields: [field])).code == .invalidRequest)
        }
        #expect(try await refusal(makeRequest(server, "/", "GET /x HTTP/1.1\r\nX:")).code == .invalidRequest)
        #expect(try await refusal(makeRequest(server, fields: [.transferEncoding: "chunked"])).code == .invalidRequest)
        #expect(try await refusal(makeRequest(server, fields: [.contentLength: "5"])).code == .invalidRequest)
    }

    @Test(arguments: ["ftp://a.example/", "/path", "file:///etc/passwd", "http:", "mailto:a@b.example", "http:///path"])
    func urlsThatAreNotHTTPAreRefused(text: String) async throws {
        let url = try #require(URL(string: text))
        #expect(try await refusal(HTTPRequest(url: url)).code == .unsupportedURL)
    }

    @Test(arguments: [HTTPRequest.Method.get, .head]) func bodiesThatFoundationCantSendAreRefused(
        method: HTTPRequest.Method
    ) async throws {
        let stream = HTTPBody.restartable { AsyncStream<Data> { $0.finish() } }
        for body in [HTTPBody("text"), stream] {
            let error = try await refusal(makeRequest(server, "/", method, body: body))
            #expect(error.code == .unsupported)
            #expect(error.message.contains(method.rawValue))
        }
    }

    @Test func whatFoundationWouldSendOtherwiseIsRefused() async throws {
        #expect(try await refusal(makeRequest(server, "/", .connect)).code == .unsupported)
        #expect(try await refusal(makeRequest(server, "/", "get")).code == .unsupported)
        #expect(
            try await refusal(makeRequest(server, fields: [.setCookie: "a", .setCookie: "b"])).code == .unsupported
        )
        var request = try makeRequest(server)
        request.url = try #require(URL(string: "http://user:hunter2@127.0.0.1:\(server.port)/"))
        let error = try await refusal(request)
        #expect(error.code == .unsupportedURL)
        #expect(!error.description.contains("hunter2"))
    }

    @Test func theFragmentStaysHere() async throws {
        _ = try await transport.send(makeRequest(server, "/a?b=c#secret"))
        #expect(await server.requests(atLeast: 1)[0].target == "/a?b=c")
    }

    @Test func aStreamThatAnnouncesNoContentAndHasSomeIsRefused() async throws {
        let body = HTTPBody.oneShot(chunks("hello"), length: 0)
        let error = try await refusal(makeRequest(server, "/", .post, body: body))
        #expect(error.code == .bodyLengthMismatch && error.request != nil, "\(error)")
    }

    @Test func aStreamThatAnnouncesNoContentAndHasNoneIsSent() async throws {
        let body = HTTPBody.oneShot(chunks(), length: 0)
        #expect(try await transport.send(makeRequest(server, "/", .post, body: body)).status == 200)
    }

    @Test func twoDifferentLocationsStayTwo() async throws {
        let server = try MockServer()
        let fields: HTTPFields = [.location: "http://127.0.0.1:1/a", .location: "http://127.0.0.1:1/b"]
        server.on(.get, "/", .status(302, headers: fields))
        let response = try await transport.send(HTTPRequest(url: server.url))
        #expect(response.headers[values: .location] == ["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"])
    }

    @Test(arguments: [
        ("https://a.example/x, HTTPS://b.example/y", ["https://a.example/x", "HTTPS://b.example/y"]),
        ("/a, /b, //c.example/", ["/a", "/b", "//c.example/"]), ("/a, b", ["/a, b"]), ("/a,/b", ["/a,/b"]),
        ("/login?next=x,https://b.example/", ["/login?next=x,https://b.example/"]), ("", [""]), (", ", [", "]),
    ])
    func onlyWhatASingleLocationCannotContainSeparatesTwo(joined: String, values: [String]) {
        #expect(ResponseHead.locations(joined) == values)
    }
}
