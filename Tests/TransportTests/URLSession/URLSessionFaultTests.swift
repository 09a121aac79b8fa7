import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct URLSessionFaultTests {
    let server: MockServer
    // Without a limit, so that no limit causes the errors.
    let transport = URLSessionTransport(timeouts: Timeouts(idle: nil))

    init() throws { server = try MockServer() }

    private func code(of fault: StubAnswer, _ mode: ResponseBodyMode = .buffered) async throws -> HTTPErrorCode {
        server.enqueue(fault)
        return try await failure {
            try await content(of: transport.send(makeRequest(server, responseBody: mode)))
        }.code
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func anEndBeforeTheResponseIsConnectionLost(mode: ResponseBodyMode) async throws {
        #expect(try await code(of: .closeBeforeHead, mode) == .connectionLost)
        #expect(try await code(of: .reset, mode) == .connectionLost)
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func anEndWithinTheContentIsTruncated(mode: ResponseBodyMode) async throws {
        #expect(try await code(of: .closeInBody(after: 10, of: 100), mode) == .truncated)
        #expect(try await code(of: .closeInBody(after: 0, of: 1), mode) == .truncated)
        #expect(try await code(of: .closeInBody(after: 1_000_000, of: 1_000_001), mode) == .truncated)
        #expect(try await code(of: .wrongContentLength(announced: 6, body: "short"), mode) == .truncated)
        #expect(try await code(of: .stream([Data("hello")], thenFailing: CancellationError()), mode) == .truncated)
        #expect(
            try await code(of: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"), mode) == .truncated
        )
    }

    @Test func aStreamIsGivenUpToWhereItWasTruncated() async throws {
        server.enqueue(.closeInBody(after: 10, of: 100))
        let response = try await transport.send(makeRequest(server, responseBody: .streamed))
        #expect(response.body.length == 100)
        var received = Data()
        let error = try await failure { for try await chunk in response.body { received += chunk } }
        #expect(error.code == .truncated)
        #expect(received == Data(repeating: UInt8(ascii: "x"), count: 10))
    }

    @Test func contentBeyondItsAnnouncedLengthIsCutAndHarmsNoLaterCall() async throws {
        server.enqueue(.wrongContentLength(announced: 3, body: "long HTTP/1.1 500 Bad\r\nContent-Length: 0\r\n\r\n"))
        #expect(try await content(of: transport.send(makeRequest(server))) == "lon")
        server.enqueue(.status(200, body: "next"))
        let response = try await transport.send(makeRequest(server))
        #expect(response.status == 200)
        #expect(try await content(of: response) == "next")
    }

    static let garbage: [StubAnswer] =
        [.garbage]
        + [
            "\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 99 No\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 1000 No\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 abc No\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 -20 No\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nfour",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nmuch",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: unheard-of, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: unheard-of\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nX-Long: \(String(repeating: "a", count: 200_000))\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\(String(repeating: "X: \(String(repeating: "a", count: 1000))\r\n", count: 400))\r\n",
        ].map { StubAnswer.raw($0) }

    @Test(arguments: garbage.indices) func whatIsNoResponseIsInvalid(index: Int) async throws {
        server.enqueue(Self.garbage[index])
        let error = try await failure { try await transport.send(makeRequest(server)) }
        #expect(error.code == .invalidResponse, Comment(rawValue: error.description))
    }

    @Test func repeatedEqualLengthsAreOneLength() async throws {
        server.enqueue(.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"))
        #expect(try await content(of: transport.send(makeRequest(server))) == "ok")
    }

    @Test func aLongFieldIsRead() async throws {
        let long = String(repeating: "a", count: 50_000)
        server.enqueue(.status(200, headers: ["X-Long": long]))
        #expect(try await transport.send(makeRequest(server)).headers["X-Long"] == long)
    }

    @Test func fieldsOfOneNameAreJoinedButCookiesAreNot() async throws {
        var fields = HTTPFields()
        let cookies = ["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/", "b=2,3; Path=/", "c="]
        for cookie in cookies { fields.append(.setCookie, cookie) }
        fields.append("X-Many", "1")
        fields.append("X-Many", "2")
        fields.append("X-Empty", "")
        fields.append("X-Unicode", "caf\u{E9} \u{2603}")
        server.enqueue(.status(200, headers: fields))
        let response = try await transport.send(makeRequest(server))
        #expect(response.headers[values: .setCookie] == cookies)
        #expect(response.headers["X-Many"] == "1, 2")
        #expect(response.headers["X-Empty"] == "")
        #expect(response.headers["X-Unicode"] == "caf\u{E9} \u{2603}")
    }

    @Test func aBufferedContentOverItsLimitEndsTheCallAtOnce() async throws {
        let piece = Data("3e8\r\n" + String(repeating: "x", count: 1000) + "\r\n")
        let responses: [[MockServer.Step]] = [
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n"), .waitForever],
            [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .send(piece, times: 101), .waitForever],
        ]
        for (count, steps) in responses.enumerated() {
            server.enqueue(StubAnswer(steps: steps))
            let request = try makeRequest(server, responseBody: .buffered(upTo: 100_000))
            #expect(try await failure { try await transport.send(request) }.code == .bodyTooLarge)
            await server.closedConnections(count + 1)
        }
    }

    @Test func aBufferedContentOfExactlyItsLimitIsTaken() async throws {
        for chunked in [false, true] {
            server.enqueue(.repeating(Data("1234567890"), times: 10, chunked: chunked))
            let response = try await transport.send(makeRequest(server, responseBody: .buffered(upTo: 100)))
            #expect(response.body.length == 100)
        }
    }

    @Test func nobodyListeningIsCannotConnect() async throws {
        let port = try UnusedPort()
        defer { withExtendedLifetime(port) {} }
        let request = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1:\(port.number)/")))
        #expect(try await failure { try await transport.send(request) }.code == .cannotConnect)
    }

    @Test func aHostWithoutAddressIsCannotFindHost() async throws {
        let url = try #require(URL(string: "http://no-such-host.invalid/"))
        #expect(try await failure { try await transport.send(HTTPRequest(url: url)) }.code == .cannotFindHost)
    }

    @Test func plainHTTPWhereTLSIsSpokenIsTLSFailed() async throws {
        server.enqueue(.garbage)
        server.on(nil, "/**", .garbage)
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        #expect(try await failure { try await transport.send(HTTPRequest(url: url)) }.code == .tlsFailed)
    }

    @Test func aRequestOnAStaleConnectionIsSentAgainIfItHasNoBody() async throws {
        server.enqueue(.status(200, body: "1"), .closeBeforeHead, StubAnswer.status(200, body: "2"))
        _ = try await transport.send(makeRequest(server))
        #expect(try await content(of: transport.send(makeRequest(server))) == "2")
        #expect(server.requests.count == 3)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put])
    func aBodyOnAStaleConnectionIsConnectionLostAndNotAHang(method: HTTPRequest.Method) async throws {
        server.enqueue(.status(200, body: "1"), .closeBeforeHead, StubAnswer.status(200, body: "2"))
        _ = try await transport.send(makeRequest(server))
        let error = try await failure { try await transport.send(makeRequest(server, "/", method, body: "important")) }
        #expect(error.code == .connectionLost)
        #expect(server.requests.count == 2)
        #expect(try await content(of: transport.send(makeRequest(server))) == "2")
    }

    @Test func secretsOfTheURLAppearInNoError() async throws {
        let secrets = ["s3cr3t", "hunter2", "k3y"]
        let path = "/p?access_token=s3cr3t&password=hunter2&x=1&api_key=k3y"
        let faults: [StubAnswer] = [
            .closeBeforeHead, .reset, .garbage, .closeInBody(after: 1, of: 2), .raw("HTTP/1.1 200\r\n\r\n"),
            StubAnswer.status(200, headers: [.contentEncoding: "gzip"], body: "no"),
            StubAnswer.status(200, body: "too large"),
        ]
        for fault in faults {
            server.enqueue(fault)
            let error = try await failure {
                try await transport.send(makeRequest(server, path, responseBody: .buffered(upTo: 5)))
            }
            var dumped = ""
            dump(error, to: &dumped)
            let texts = [
                error.description, error.debugDescription, error.localizedDescription, "\(error)",
                String(reflecting: error), dumped, "\(error as NSError)", "\((error as NSError).userInfo)",
            ]
            for text in texts { for secret in secrets { #expect(!text.contains(secret), "\(text)") } }
            #expect(error.request?.method == .get)
            #expect(error.request?.url.contains("x=1") == true)
        }
    }

    #if canImport(FoundationNetworking)
    @Test func onLinuxAFieldThatIsNotUTF8IsInvalid() async throws {
        server.enqueue(.raw(Data("HTTP/1.1 200 OK\r\nX: caf") + [0xE9] + Data("\r\nContent-Length: 0\r\n\r\n")))
        #expect(try await failure { try await transport.send(makeRequest(server)) }.code == .invalidResponse)
    }

    @Test func onLinuxAStatusLineWithoutASpaceAfterTheCodeIsInvalid() async throws {
        #expect(try await code(of: .raw("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n")) == .invalidResponse)
    }

    // The crashes that the documentation warns about. If one of these tests fails, Foundation has improved: delete the
    // test and the warning.
    @Test func onLinuxFoundationTrapsOnACloseWithinTheHead() async {
        await #expect(processExitsWith: .failure) { try await sendToTrap(.closeInHead) }
    }

    @Test func onLinuxFoundationTrapsOnALengthThatItsDoublesRoundUp() async {
        await #expect(processExitsWith: .failure) {
            try await sendToTrap(.raw("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nok"))
        }
    }

    @Test func onLinuxFoundationTrapsOnTrailers() async {
        await #expect(processExitsWith: .failure) {
            try await sendToTrap(.stream([Data("a")], trailers: ["X-Trailer": "b"]))
        }
    }
    #endif
}

#if canImport(FoundationNetworking)
private func sendToTrap(_ response: StubAnswer) async throws {
    let server = try MockServer()
    server.enqueue(response)
    // An error thrown here would end the process like the trap that the test expects.
    _ = try? await URLSessionTransport().send(makeRequest(server))
}
#endif
