import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

/// Nobody reads the content of a redirect that is followed (RFC 9110 §15.4), so errors in this content must not fail
/// the call.
@Suite(.againstHanging) struct RedirectContentTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: HTTPErrorCode
        let steps: [MockServer.Step]

        init(_ name: String, _ code: HTTPErrorCode, _ fields: String, _ content: Data, closes: Bool = false) {
            testDescription = name
            self.code = code
            let head = Data("HTTP/1.1 302 Found\r\nLocation: /next\r\n\(fields)\r\n\r\n".utf8)
            steps = [.send(head + content)] + (closes ? [.close] : [])
        }
    }

    private static let long = Data(repeating: UInt8(ascii: "x"), count: 2000)

    /// Faults that every transport notices only after the head.
    static let tooLong = [
        Fault("a length beyond the limit", .bodyTooLarge, "Content-Length: 2000", long),
        Fault(
            "a chunk beyond the limit",
            .bodyTooLarge,
            "Transfer-Encoding: chunked",
            Data("7d0\r\n") + long + Data("\r\n0\r\n\r\n")
        ),
    ]

    static let broken = [
        Fault("less than announced", .truncated, "Content-Length: 9", Data("half"), closes: true),
        Fault("a chunk cut", .truncated, "Transfer-Encoding: chunked", Data("5\r\nhe"), closes: true),
        Fault(
            "a chunk without a size",
            .invalidResponse,
            "Transfer-Encoding: chunked",
            Data("zz\r\nhello\r\n0\r\n\r\n")
        ),
    ]

    private let server: MockServer

    init() throws { server = try MockServer() }

    private func request(
        _ mode: ResponseBodyMode = .buffered(upTo: 1000),
        isFollowed: Bool = true
    ) throws -> HTTPRequest {
        var request = try makeRequest(server, "/a?token=hush", responseBody: mode)
        request.context.followsRedirects = isFollowed
        return request
    }

    private func expectFollowed(_ fault: Fault, over transport: any Transport) async throws {
        server.on(.get, "/a") { _ in StubAnswer(steps: fault.steps) }
        server.on(.get, "/next", .status(200, body: "next"))
        let error = try await failure { try await transport.send(request(isFollowed: false)) }
        #expect(error.code == fault.code, "\(error)")
        let response = try await transport.send(request())
        #expect(response.status == 302)
        #expect(response.headers[.location] == "/next")
        for _ in 0..<2 {
            let reading = try await failure { try await response.body.collect(upTo: .max) }
            #expect(reading.description == error.description)
        }
        response.body.discard()
        #expect(try await content(of: transport.send(makeRequest(server, "/next"))) == "next")
    }

    @Test(arguments: tooLong)
    func followedRedirectWithTooMuchContentIsTheResponse(fault: Fault) async throws {
        try await expectFollowed(fault, over: URLSessionTransport(timeouts: Timeouts(idle: nil)))
    }

    #if canImport(FoundationNetworking)
    /// Foundation reports a redirect when its content has ended. If this test fails, Foundation has changed: delete the
    /// test, and the sentence about it in the documentation.
    @Test(arguments: broken)
    func onLinuxURLSessionShowsNoRedirectWhoseContentBreaks(fault: Fault) async throws {
        server.on(.get, "/a") { _ in StubAnswer(steps: fault.steps) }
        let transport = URLSessionTransport(timeouts: Timeouts(idle: nil))
        await #expect(throws: TransportError.self) { try await transport.send(request()) }
    }
    #else
    @Test(arguments: broken)
    func followedRedirectWhoseContentBreaksIsTheResponse(fault: Fault) async throws {
        try await expectFollowed(fault, over: URLSessionTransport(timeouts: Timeouts(idle: nil)))
    }
    #endif

    @Test func stubsRedirectWhoseContentFailsIsTheResponse() async throws {
        let stub = StubTransport()
        let cut = TransportError(.truncated, "Cut.")
        stub.on(
            .get,
            "/a",
            .stream([Data("half")], thenFailing: cut, status: 302, headers: [.location: "/next"])
        )
        #expect(try await failure { try await stub.send(request(isFollowed: false)) }.code == .truncated)
        let response = try await stub.send(request())
        #expect(response.status == 302)
        #expect(try await failure { try await response.body.collect(upTo: 100) }.code == .truncated)
        stub.on(.get, "/a", .stream([Data("half")], thenFailing: cut, status: 302))
        #expect(try await failure { try await stub.send(request()) }.code == .truncated)
    }
}

#if os(Linux)
extension RedirectContentTests {
    static let coded = [
        Fault("no gzip", .invalidResponse, "Content-Encoding: gzip\r\nContent-Length: 8", Data("no gzip.")),
        Fault(
            "half of gzip",
            .truncated,
            "Content-Encoding: gzip\r\nContent-Length: 50",
            CodedSamples.shortGzip.prefix(50)
        ),
    ]

    private static func transport(_ time: TimeSource = .system) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.timeouts = Timeouts(idle: nil)
        configuration.time = time
        return CurlTransport(configuration)
    }

    @Test(arguments: tooLong + broken + coded)
    func curlsFollowedRedirectIsTheResponseWhateverBecomesOfItsContent(fault: Fault) async throws {
        let transport = Self.transport()
        try await expectFollowed(fault, over: transport)
        await transport.shutDown()
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nLocation: /next", "HTTP/1.1 300 Multiple Choices\r\nLocation: /next", "HTTP/1.1 302 Found",
        "HTTP/1.1 302 Found\r\nLocation:", "HTTP/1.1 201 Created\r\nLocation: /next",
    ])
    func contentOfAnyOtherResponseIsReadAndItsFaultEndsTheCall(head: String) async throws {
        server.on(.get, "/a") { _ in StubAnswer(steps: [.send("\(head)\r\nContent-Length: 9\r\n\r\nhalf"), .close]) }
        let transport = Self.transport()
        #expect(try await failure { try await transport.send(request()) }.code == .truncated)
        await transport.shutDown()
    }

    private static let stalled = StubAnswer(steps: [
        .send("HTTP/1.1 308 Permanent Redirect\r\nLocation: /next\r\nContent-Length: 9\r\n\r\nhalf"), .waitForever,
    ])

    @Test func followedRedirectWhoseContentStallsForASecondIsTheResponse() async throws {
        server.on(.get, "/a", Self.stalled)
        let clock = ManualClock()
        let transport = Self.transport(.manual(clock))
        let call = Task { try await transport.send(request()) }
        // Without time limits, nothing sleeps before the head arrives.
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        let response = try await call.value
        #expect(response.status == 308)
        #expect(try await failure { try await response.body.collect(upTo: 100) }.code == .timedOut)
        await transport.shutDown()
    }

    @Test func limitOfTheWholeEndsACallEvenInTheContentOfARedirect() async throws {
        server.on(.get, "/a", Self.stalled)
        let clock = ManualClock()
        let transport = Self.transport(.manual(clock))
        let (progress, continuation) = AsyncStream.makeStream(of: Void.self)
        var request = try request()
        request.context.timeouts = Timeouts(idle: nil, total: .milliseconds(500))
        request.context.downloadProgress = { _ in continuation.yield() }
        let call = Task { [request] in try await transport.send(request) }
        for await _ in progress { break }
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(500))
        #expect(try await failure { try await call.value }.code == .timedOut)
        await transport.shutDown()
    }

    @Test func callThatIsCancelledInTheContentOfARedirectIsCancelled() async throws {
        server.on(.get, "/a", Self.stalled)
        let transport = Self.transport()
        let (progress, continuation) = AsyncStream.makeStream(of: Void.self)
        var request = try request()
        request.context.downloadProgress = { _ in continuation.yield() }
        let call = Task { [request] in try await transport.send(request) }
        for await _ in progress { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await transport.shutDown()
    }
}
#endif
