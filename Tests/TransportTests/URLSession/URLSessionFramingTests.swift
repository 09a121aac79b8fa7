import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

/// Framing that RFC 9112 §6.3 forbids, and responses before the end of an upload, as URLSession reports them.
@Suite(.againstHanging) struct URLSessionFramingTests {
    let server: MockServer
    // Without a limit, so that no limit causes the errors.
    let transport = URLSessionTransport(timeouts: Timeouts(idle: nil))

    init() throws { server = try MockServer() }

    static let forbidden = [
        "Content-Length: 5\r\nContent-Length: 3", "Content-Length: 3, 5", "Content-Length: 2abc", "Content-Length: 0x4",
        "Content-Length: 99999999999999999999", "Content-Length: 18446744073709551618", "Content-Length: +2",
        "Content-Length: -2", "Content-Length:", "Content-Length: 2,", "Content-Length: 2 2",
        "Content-Length : 2", "Content-Length: 2\r\n 0",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, gzip", "Transfer-Encoding : chunked",
    ]

    @Test(arguments: forbidden)
    func forbiddenFramingIsAnError(head: String) async throws {
        let bytes = head.contains("chunked") ? "2\r\nok\r\n0\r\n\r\n" : "ok"
        server.on(.get, "/") { _ in StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n\(bytes)"), .close]) }
        let error = try await failure { try await transport.send(makeRequest(server)) }
        #expect(error.code == .invalidResponse, "\(error)")
    }

    #if canImport(FoundationNetworking)
    /// Foundation keeps one of two lengths whose names differ in case, and drops a bare CR. If this test fails, move
    /// the head to `forbidden`.
    @Test(arguments: ["content-length: 2\r\nCONTENT-LENGTH: 4", "Content-Length: 2\r\nX-A: a\rb"])
    func onLinuxForbiddenFramingIsHidden(head: String) async throws {
        server.on(.get, "/") { _ in StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\n\(head)\r\n\r\nok"), .close]) }
        do {
            #expect(try await content(of: transport.send(makeRequest(server))) == "ok")
        } catch let error as TransportError {
            #expect(error.code == .truncated)
        }
    }

    @Test func onLinuxASpooledOneShotBodyIsUsedUpByARefusedConnection() async throws {
        let port = try UnusedPort()
        defer { withExtendedLifetime(port) {} }
        let body = HTTPBody.oneShot(
            AsyncStream {
                $0.yield(Data("x")); $0.finish()
            }
        )
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let request = HTTPRequest(method: .put, url: url, body: body)
        #expect(try await failure { try await transport.send(request) }.code == .cannotConnect)
        #expect(!body.isReadable)
    }
    #endif

    @Test func streamAnnouncedEmptyThatDoesNotEndMeetsTheLimit() async throws {
        let clock = ManualClock()
        let transport = URLSessionTransport(timeouts: Timeouts(idle: .seconds(7)), time: .manual(clock))
        let body = HTTPBody.restartable(length: 0) { AsyncStream<Data> { _ in } }
        let request = try makeRequest(server, "/", .put, body: body)
        let call = Task { try await transport.send(request) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(7))
        #expect(try await failure { try await call.value }.code == .timedOut)
        #expect(server.requests.isEmpty)
    }

    @Test func refusedConnectionLeavesAOneShotBodyThatIsEmpty() async throws {
        let port = try UnusedPort()
        defer { withExtendedLifetime(port) {} }
        let body = HTTPBody.oneShot(AsyncStream<Data> { $0.finish() }, length: 0)
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let refused = HTTPRequest(method: .put, url: url, body: body)
        #expect(try await failure { try await transport.send(refused) }.code == .cannotConnect)
        server.on(.put, "/") { StubAnswer.status(200, body: "\($0.bodyLength)") }
        #expect(try await content(of: transport.send(makeRequest(server, "/", .put, body: body))) == "0")
    }
}
