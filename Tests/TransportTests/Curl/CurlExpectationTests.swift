#if os(Linux)
import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

/// `Expect: 100-continue` (RFC 9110 §10.1.1) and the responses to it.
@Suite(.againstHanging) struct CurlExpectationTests {
    private static let refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"
    private static let long = Data(repeating: UInt8(ascii: "x"), count: 200_000)

    /// Bodies in memory, small and large, and streams that can or can't be read again.
    enum Body: CaseIterable, Sendable {
        case small, large, restartable, chunked, oneShot

        var value: HTTPBody {
            switch self {
            case .small: HTTPBody(Data("xxxx"))
            case .large: HTTPBody(CurlExpectationTests.long)
            case .restartable:
                .restartable(length: 200_000) {
                    AsyncStream {
                        $0.yield(CurlExpectationTests.long); $0.finish()
                    }
                }
            case .chunked:
                .restartable {
                    AsyncStream {
                        $0.yield(CurlExpectationTests.long); $0.finish()
                    }
                }
            case .oneShot:
                .oneShot(
                    AsyncStream {
                        $0.yield(CurlExpectationTests.long); $0.finish()
                    }
                )
            }
        }
    }

    private static func request(
        _ server: HeadServer,
        _ body: Body,
        _ method: HTTPRequest.Method = .post,
        _ mode: ResponseBodyMode = .buffered
    ) -> HTTPRequest {
        var request = HTTPRequest(
            method: method,
            url: server.url,
            headers: [.expect: "100-continue"],
            body: body.value
        )
        request.context.responseBody = mode
        return request
    }

    @Test(arguments: Body.allCases, [HTTPRequest.Method.post, .put])
    func expectationThatAlwaysFailsIsTriedOnceAndThenLeftOut(body: Body, method: HTTPRequest.Method) async throws {
        let server = try HeadServer { _, _ in .init(text: Self.refusal) }
        let transport = CurlTransport()
        for mode in [ResponseBodyMode.buffered, .streamed] {
            let before = server.connections.flatMap(\.heads).count
            let response = try await transport.send(Self.request(server, body, method, mode))
            #expect(response.status == 417)
            // libcurl drops the content of the 417 because it is about to send the request again.
            #expect(try await content(of: response) == (body == .oneShot ? "" : "no"))
            let heads = server.connections.flatMap(\.heads).dropFirst(before)
            #expect(heads.map { $0.contains("Expect: 100-continue") } == (body == .oneShot ? [true] : [true, false]))
        }
        await transport.shutDown()
    }

    @Test(arguments: Body.allCases)
    func contentIsSentWithoutTheExpectationAfter417(body: Body) async throws {
        guard body != .oneShot else { return }
        let server = try MockServer()
        server.on(.post, "/", readsBody: false) { request in
            request.headers.contains(.expect)
                ? StubAnswer.status(417, body: "no") : StubAnswer.status(200, body: "yes")
        }
        let transport = CurlTransport()
        let request = try makeRequest(server, "/", .post, fields: [.expect: "100-continue"], body: body.value)
        #expect(try await content(of: transport.send(request)) == "yes")
        #expect(server.requests.map { $0.headers.contains(.expect) } == [true, false])
        await transport.shutDown()
    }

    @Test(arguments: Body.allCases)
    func contentFollowsWhenTheServerAsksForIt(body: Body) async throws {
        let server = try MockServer()
        server.on(.post, "/") { StubAnswer.status(200, body: "\($0.bodyLength)") }
        let transport = CurlTransport()
        for _ in 0..<2 {
            let request = try makeRequest(server, "/", .post, fields: [.expect: "100-continue"], body: body.value)
            #expect(try await content(of: transport.send(request)) == (body == .small ? "4" : "200000"))
        }
        #expect(server.connectionsOpened == 1)
        await transport.shutDown()
    }

    /// Responses instead of `100`, with and without announcing the end of the connection.
    @Test(
        arguments: Body.allCases,
        [
            "HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno",
            "HTTP/1.1 401 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno",
            "HTTP/1.1 302 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n", "HTTP/1.0 403 No\r\n\r\nno",
        ]
    )
    func noContentFollowsAFinalResponse(body: Body, answer: String) async throws {
        let server = try HeadServer { head, _ in
            guard head.hasPrefix("POST") else { return .init(text: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext") }
            return .init(text: answer, closes: answer.contains("1.0"))
        }
        let transport = CurlTransport()
        let response = try await transport.send(Self.request(server, body))
        #expect(try await content(of: response) == "no")
        // The server may still wait for content on this connection, so the next request uses another one.
        #expect(try await content(of: transport.send(HTTPRequest(url: server.url))) == "next")
        await transport.shutDown()
        for _ in 0..<2 { await server.closedConnection() }
        #expect(server.connections.map(\.heads.count) == [1, 1])
        #expect(server.connections.map(\.rest) == [0, 0])
    }
}
#endif
