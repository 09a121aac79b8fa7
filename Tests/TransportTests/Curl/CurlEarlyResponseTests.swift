#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

/// Uploads that are answered, refused or lost before they end.
@Suite(.againstHanging) struct CurlEarlyResponseTests {
    private static func transport(_ clock: ManualClock, _ timeouts: Timeouts) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.time = .manual(clock)
        configuration.timeouts = timeouts
        return CurlTransport(configuration)
    }

    private static let stalled = HTTPBody.restartable { AsyncStream<Data> { _ in } }

    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone", "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n",
        ],
        [ResponseBodyMode.buffered, .streamed]
    )
    func earlyResponseIsTheAnswerToAnUploadThatHasNothingMoreToSend(text: String, mode: ResponseBodyMode) async throws {
        let server = try HeadServer { _, _ in .init(text: text) }
        let clock = ManualClock()
        let transport = Self.transport(clock, Timeouts(connect: nil, idle: nil, total: nil))
        var request = HTTPRequest(method: .post, url: server.url, body: Self.stalled)
        request.context.responseBody = mode
        async let call = transport.send(request)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        let response = try await call
        #expect(response.status.code == Int(text.dropFirst(9).prefix(3)))
        #expect(try await content(of: response) == (text.hasSuffix("done") ? "done" : ""))
        await transport.shutDown()
    }

    @Test func earlyResponseOfAServerThatReadsNothingIsTheAnswer() async throws {
        let server = try MockServer()
        server.on(.post, "/", readsBody: false) { _ in
            StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"), .waitForever])
        }
        let clock = ManualClock()
        let transport = Self.transport(clock, Timeouts(connect: nil, idle: nil, total: nil))
        // More than the system buffers for a server that doesn't read.
        let request = try makeRequest(server, "/", .post, body: HTTPBody(Data(count: 64 << 20)))
        let time = Task {
            while !Task.isCancelled {
                await clock.sleepers(1)
                clock.advance(by: .seconds(1))
            }
        }
        #expect(try await content(of: transport.send(request)) == "done")
        time.cancel()
        await transport.shutDown()
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func earlyResponseWhoseCompressedContentEndsTooSoonIsTruncated(mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        let cut = CodedSamples.gzip.dropLast(8)
        server.on(.post, "/", readsBody: false) { _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(cut.count)\r\n\r\n"
            return StubAnswer(steps: [.send(head), .send(Data(cut)), .waitForever])
        }
        let clock = ManualClock()
        let transport = Self.transport(clock, Timeouts(connect: nil, idle: nil, total: nil))
        let request = try makeRequest(server, "/", .post, body: Self.stalled, responseBody: mode)
        let time = Task {
            while !Task.isCancelled {
                await clock.sleepers(1)
                clock.advance(by: .seconds(1))
            }
        }
        let error = try await failure { try await content(of: transport.send(request)) }
        #expect(error.code == .truncated)
        time.cancel()
        await transport.shutDown()
    }

    @Test func uploadThatGoesOnAfterAnEarlyResponseIsSentToItsEnd() async throws {
        let server = try HeadServer { _, _ in .init(text: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone") }
        // The clock doesn't move, so even a slow upload never counts as paused.
        let transport = Self.transport(ManualClock(), Timeouts(connect: nil, idle: nil, total: nil))
        let body = HTTPBody.restartable(length: 8 << 20) {
            AsyncStream {
                for _ in 0..<128 { $0.yield(Data(repeating: 0x61, count: 64 << 10)) }; $0.finish()
            }
        }
        let response = try await transport.send(HTTPRequest(method: .post, url: server.url, body: body))
        #expect(try await content(of: response) == "done")
        await transport.shutDown()
        await server.closedConnection()
        #expect(server.connections.map(\.rest) == [8 << 20])
    }

    @Test func refusedConnectionLeavesAOneShotBodyForAnotherAttempt() async throws {
        let port = try UnusedPort()
        defer { withExtendedLifetime(port) {} }
        let server = try MockServer()
        server.on(.post, "/") { StubAnswer.status(200, body: "\($0.bodyLength)") }
        let content = Data(repeating: 0x61, count: 300_000)
        let body = HTTPBody.oneShot(
            AsyncStream {
                $0.yield(content); $0.finish()
            }
        )
        let transport = CurlTransport()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let error = try await failure { try await transport.send(HTTPRequest(method: .post, url: url, body: body)) }
        #expect(error.code == .cannotConnect)
        #expect(body.isReadable)
        let response = try await transport.send(makeRequest(server, "/", .post, body: body))
        #expect(try await response.body.collect(upTo: 100) == Data("300000".utf8))
        #expect(!body.isReadable)
        await transport.shutDown()
    }

    @Test(arguments: [(7, 9), (9, 7), (7, nil)] as [(Int, Int?)])
    func emptyStreamThatDoesNotEndMeetsTheShorterLimit(idle: Int, total: Int?) async throws {
        let server = try MockServer()
        let clock = ManualClock()
        let timeouts = Timeouts(connect: nil, idle: .seconds(idle), total: total.map { .seconds($0) })
        let transport = Self.transport(clock, timeouts)
        let body = HTTPBody.restartable(length: 0) { AsyncStream<Data> { _ in } }
        let request = try makeRequest(server, "/", .put, body: body)
        let call = Task { try await transport.send(request) }
        await clock.sleepers(1)
        #expect(clock.nextDeadline == ManualClock.Instant(elapsed: .seconds(7)))
        clock.advance(by: .seconds(9))
        let error = try await failure { try await call.value }
        #expect(error.code == .timedOut)
        #expect(error.message.contains("7.0 seconds"), "\(error)")
        #expect(server.requests.isEmpty)
        await transport.shutDown()
    }
}

/// Each error says what happened and how to fix it.
@Suite(.againstHanging) struct CurlErrorTextTests {
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "chunked"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n", "chunked"),
        ("<html>no head</html>", "port"), ("\u{15}\u{03}\u{01}", "port"),
    ])
    func malformedResponseSaysWhatItIs(text: String, part: String) async throws {
        let server = try MockServer()
        server.enqueue(.raw(text))
        let transport = CurlTransport()
        let error = try await failure { try await transport.send(makeRequest(server)) }
        #expect(error.code == .invalidResponse, "\(error)")
        #expect(error.message.contains(part), "\(error)")
        await transport.shutDown()
    }

    @Test func headOfARequestThatIsTooLongIsNoFaultOfTheResponse() async throws {
        let server = try MockServer()
        let fields: HTTPFields = ["X-Long": String(repeating: "a", count: 2 << 20)]
        let error = try await failure { try await CurlTransport().send(makeRequest(server, fields: fields)) }
        #expect(error.code == .invalidRequest, "\(error)")
        #expect(error.message.contains("request"))
        #expect(server.requests.isEmpty)
    }

    @Test func selfSignedCertificateSaysHowToTrustIt() async throws {
        let server = try MockServer(tls: TestIdentity.selfSigned())
        for tls in [TLSConfiguration.system, TLSConfiguration(trust: .only([try TestAuthority().certificate]))] {
            let error = try await failure { try await send(HTTPRequest(url: server.url), tls) }
            #expect(error.code == .tlsFailed)
            #expect(error.message.contains("TLSConfiguration.trust"), "\(error)")
        }
    }

    @Test func hostThatIsNotFoundSaysToLookForANetworkAndTheName() async throws {
        let url = try #require(URL(string: "http://nobody.invalid/"))
        let error = try await failure { try await CurlTransport().send(HTTPRequest(url: url)) }
        #expect(error.code == .cannotFindHost)
        #expect(error.message.contains("online"), "\(error)")
    }

    @Test func tlsToAPortOfHTTPSaysSo() async throws {
        let server = try MockServer()
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        let error = try await failure { try await CurlTransport().send(HTTPRequest(url: url)) }
        #expect(error.code == .tlsFailed, "\(error)")
        #expect(error.message.contains("port of http"), "\(error)")
    }
}
#endif
