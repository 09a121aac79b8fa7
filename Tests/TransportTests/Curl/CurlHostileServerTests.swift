#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

/// Malicious servers: their bytes cost no more than the limits allow, and never pass for anything else.
@Suite(.againstHanging, .heavy) struct CurlHostileServerTests {
    private static let modes: [ResponseBodyMode] = [.buffered, .streamed]

    private static func fields(_ count: Int) -> String {
        (0..<count).map { "X-\($0): \(String(repeating: "a", count: 1000))\r\n" }.joined()
    }

    @Test(arguments: modes)
    func headWithoutAnEndIsRefused(mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        server.enqueue(.raw("HTTP/1.1 200 OK\r\n\(Self.fields(2000))"))
        let transport = CurlTransport()
        let error = try await failure { try await transport.send(makeRequest(server, responseBody: mode)) }
        #expect(error.code == .invalidResponse)
        #expect(error.message.contains("head"), "\(error)")
    }

    @Test(arguments: modes)
    func aDrippingHeadIsNotCalledNothing(mode: ResponseBodyMode) async throws {
        let (server, clock) = (try MockServer(), ManualClock())
        let (sent, gate) = (Latch(), Latch())
        let pause = MockServer.Step.run {
            sent.open()
            await gate.opened()
        }
        server.enqueue(StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nX-A: a"), pause]))
        let transport = CurlTransport(timeouts: Timeouts(idle: .seconds(60)), time: .manual(clock))
        let call = Task { try await transport.send(makeRequest(server, responseBody: mode)) }
        await sent.opened()
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        let error = try await failure { try await call.value }
        #expect(error.code == .timedOut && !error.sentNothing)
        #expect(error.message.hasPrefix("Neither a complete head nor content was sent or received"), "\(error)")
        gate.open()
        await transport.shutDown()
    }

    @Test func longHeadWithAnEndIsWhole() async throws {
        let server = try MockServer()
        server.enqueue(.raw("HTTP/1.1 200 OK\r\n\(Self.fields(200))Content-Length: 0\r\n\r\n"))
        let response = try await CurlTransport().send(makeRequest(server))
        #expect(response.headers.count == 201)
    }

    @Test func fieldWithoutAnEndIsRefused() async throws {
        let server = try MockServer()
        server.enqueue(.raw("HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: 1 << 20))"))
        let error = try await failure { try await CurlTransport().send(makeRequest(server)) }
        #expect(error.code == .invalidResponse)
        #expect(error.message.contains("100 KB"), "\(error)")
    }

    @Test(arguments: [1_000, 1_001], [true, false])
    func aThousandInterimResponsesAreAcceptedAndNoMore(count: Int, areWanted: Bool) async throws {
        let server = try MockServer()
        let interim = MockServer.Step.send(Data("HTTP/1.1 102 Wait\r\n\r\n"), times: count)
        server.enqueue(.status(200, body: "ok").preceded(by: [interim]))
        let told = Shared(0)
        var request = try makeRequest(server)
        if areWanted { request.context.interim = { _ in told.change { $0 += 1 } } }
        guard count > 1_000 else {
            let response = try await CurlTransport().send(request)
            #expect(response.status == 200)
            #expect(response.headers.count <= 4)
            return #expect(told.value == (areWanted ? 1_000 : 0))
        }
        let error = try await failure { try await CurlTransport().send(request) }
        #expect(error.code == .invalidResponse)
        #expect(error.message == "The server sent more than 1,000 interim responses.")
    }

    @Test func interimResponsesTogetherAreNoLongerThanAHead() async throws {
        let server = try MockServer()
        let interim = MockServer.Step.send(Data("HTTP/1.1 103 Early Hints\r\n\(Self.fields(50))\r\n"), times: 6)
        server.enqueue(.status(200, body: "ok").preceded(by: [interim]))
        let error = try await failure { try await CurlTransport().send(makeRequest(server)) }
        #expect(error.code == .invalidResponse)
    }

    @Test(arguments: modes)
    func trailersWithoutAnEndAreRefused(mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        server.enqueue(
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\(Self.fields(2000))")
        )
        let error = try await failure {
            let response = try await CurlTransport().send(makeRequest(server, responseBody: mode))
            return try await content(of: response)
        }
        #expect(error.code == .invalidResponse)
        #expect(error.message.contains("trailers"), "\(error)")
    }

    @Test func bareReturnInATrailerIsRefused() async throws {
        let server = try MockServer()
        server.enqueue(
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: a\rX-B: b\r\n\r\n")
        )
        let error = try await failure { try await CurlTransport().send(makeRequest(server)) }
        #expect(error.code == .invalidResponse)
    }

    @Test(arguments: modes)
    func contentAfterSwitchingToAProtocolThatNobodyAskedForIsRefused(mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        let content = String(repeating: "a", count: 1 << 20)
        server.enqueue(.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n\(content)"))
        let transport = CurlTransport()
        let error = try await failure { try await transport.send(makeRequest(server, responseBody: mode)) }
        #expect(error.code == .invalidResponse)
    }

    @Test func aLengthBeyondAllMemoryThatNeverComesIsAnErrorAndNoCrash() async throws {
        let server = try MockServer()
        server.enqueue(.raw("HTTP/1.1 200 OK\r\nContent-Length: 4611686018427387904\r\n\r\nshort"))
        let error = try await failure {
            try await CurlTransport().send(makeRequest(server, responseBody: .buffered(upTo: .max)))
        }
        #expect(error.code == .truncated, "\(error)")
    }

    @Test func statusLineAmongTheFieldsIsNoSecondResponse() async throws {
        let server = try MockServer()
        for line in ["HTTP/1.1: 500 No", "HTTP/1.1: 100 Continue"] {
            server.enqueue(.raw("HTTP/1.1 200 OK\r\nX-A: 1\r\n\(line)\r\nContent-Length: 2\r\n\r\nok"))
            let response = try await CurlTransport().send(makeRequest(server))
            #expect(response.status == 200)
            #expect(response.headers["X-A"] == "1")
            #expect(try await content(of: response) == "ok")
        }
    }

    @Test func lengthsThatContradictEachOtherAreRefusedOrTheConnectionIsNotUsedAgain() async throws {
        for head in ["Content-Length: 2\r\nContent-Length: 9", "Content-Length: 2, 9", "Content-Length: -1"] {
            let server = try MockServer()
            server.enqueue(.raw("HTTP/1.1 200 OK\r\n\(head)\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"))
            server.on(.get, "/next", .status(200, body: "good"))
            let transport = CurlTransport()
            _ = try? await transport.send(makeRequest(server))
            #expect(try await content(of: transport.send(makeRequest(server, "/next"))) == "good", "\(head)")
        }
    }

    // 1 GB in 32 KB (RFC 8878 §3.1.1.2): blocks that repeat one byte.
    private static func bomb() -> StubAnswer {
        let blocks = (0..<8192).flatMap { [$0 == 8191 ? 0x03 : 0x02, 0x00, 0x10, 0x61] as [UInt8] }
        return StubAnswer.status(
            200,
            headers: [.contentEncoding: "zstd"],
            body: Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38] + blocks)
        )
    }

    private static func expectBounded(by limit: Int, _ work: () async throws -> Void) async throws {
        OwnProcess.forgetPeak()
        let before = OwnProcess.memory
        try await work()
        #expect(OwnProcess.peakMemory - before < limit)
    }

    @Test func announcedContentOverTheLimitEndsTheCallAtItsHead() async throws {
        let server = try MockServer()
        server.enqueue(StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n"), .waitForever]))
        let request = try makeRequest(server, responseBody: .buffered(upTo: 100_000))
        #expect(try await failure { try await CurlTransport().send(request) }.code == .bodyTooLarge)
        await server.closedConnections(1)
    }

    @Test func decodedContentCountsAgainstTheLimitOfABufferedBody() async {
        await #expect(processExitsWith: .success) {
            let server = try MockServer()
            server.on(.get, "/bomb", Self.bomb())
            let transport = CurlTransport()
            try await Self.expectBounded(by: 24 << 20) {
                let request = try makeRequest(server, "/bomb", responseBody: .buffered(upTo: 4 << 20))
                let error = try await failure { try await transport.send(request) }
                // Without libzstd, the content isn't decoded.
                let isDecoded = server.requests.first?.headers[.acceptEncoding]?.contains("zstd") == true
                #expect(!isDecoded || error.code == .bodyTooLarge)
            }
            await transport.shutDown()
        }
    }

    @Test func contentThatDecodesToFarMoreThanItsReaderTakesWaitsForTheReader() async {
        await #expect(processExitsWith: .success) {
            let server = try MockServer()
            server.on(.get, "/bomb", Self.bomb())
            let transport = CurlTransport()
            try await Self.expectBounded(by: 24 << 20) {
                let response = try await transport.send(makeRequest(server, "/bomb", responseBody: .streamed))
                // Without libzstd, the content isn't decoded.
                let isDecoded = !response.headers.contains(.contentEncoding)
                var count = 0
                for try await chunk in response.body { count += chunk.count }
                #expect(!isDecoded || count == 1 << 30)
            }
            await transport.shutDown()
        }
    }
}
#endif
