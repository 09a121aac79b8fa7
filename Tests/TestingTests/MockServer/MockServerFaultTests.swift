import Foundation
import InterceptorsTesting
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite(.againstHanging) struct MockServerFaultTests {
    private func wire(_ response: StubAnswer) async throws -> Data {
        let server = try MockServer()
        server.enqueue(response)
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        return try await client.receiveAllBytes()
    }

    private func text(_ response: StubAnswer) async throws -> String {
        String(decoding: try await wire(response), as: UTF8.self)
    }

    @Test func neverAnswerEndsWithTheClient() async throws {
        let server = try MockServer()
        server.enqueue(.neverAnswer)
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        await server.requests(atLeast: 1)
        #expect(server.connectionsOpen == 1)
        client.close()
        await server.closedConnections(1)
        #expect(server.connectionsOpen == 0)
    }

    @Test func closesBeforeTheHead() async throws {
        #expect(try await wire(.closeBeforeHead).isEmpty)
    }

    @Test func closesInTheHead() async throws {
        #expect(try await text(.closeInHead) == "HTTP/1.1 200 OK\r\nContent-Le")
    }

    @Test func closesInTheBody() async throws {
        #expect(try await text(.closeInBody(after: 3, of: 10)) == "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nxxx")
    }

    @Test func closesInTheChunks() async throws {
        let text = try await text(.stream([Data("ab".utf8)], thenFailing: CancellationError()))
        #expect(text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
    }

    @Test func sendsGarbage() async throws {
        let bytes = try await wire(.garbage)
        #expect(bytes.contains(0))
        #expect(String(validating: bytes, as: UTF8.self) == nil)
    }

    @Test func announcesMoreThanItSends() async throws {
        let text = try await text(.wrongContentLength(announced: 9, body: "abc"))
        #expect(text == "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
    }

    @Test func whatExceedsTheAnnouncedLengthStandsBeforeTheNextResponse() async throws {
        let server = try MockServer()
        server.enqueue(.wrongContentLength(announced: 1, body: "abc"), StubAnswer.status(200, body: "next").closing())
        let client = try RawClient(port: server.port)
        #expect(try await client.ask(Wire.get()).body == "a")
        try await client.send(Wire.get())
        #expect(try await client.receiveAll().hasPrefix("bcHTTP/1.1 200 OK\r\n"))
    }

    @Test func resetsTheConnection() async throws {
        let server = try MockServer()
        server.enqueue(.reset)
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        let failure = await #expect(throws: RawClient.Failure.self) { try await client.receiveAll() }
        #expect(failure?.code == ECONNRESET)
        // The server accepted the connection and received the request, so the reset came from the server.
        await server.openedConnections(1)
        #expect(server.requests.count == 1)
    }

    @Test func sendsRawBytes() async throws {
        #expect(try await wire(.raw(Data([1, 2, 255]))) == Data([1, 2, 255]))
        #expect(try await text(.raw("HTTP/0.9")) == "HTTP/0.9")
    }

    @Test func aFaultMayComeAfterAnInterimResponse() async throws {
        #expect(try await text(.closeBeforeHead.preceded(byInterim: 103)) == "HTTP/1.1 103 Early Hints\r\n\r\n")
    }

    @Test func idleConnectionsAreClosedOnDemand() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200))
        let client = try RawClient(port: server.port)
        _ = try await client.ask(Wire.get())
        server.closeConnections()
        #expect(try await client.receiveAll() == "")
        let other = try RawClient(port: server.port)
        #expect(try await other.ask(Wire.get()).head.hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func aConnectionUsedAgainMayBeClosedWithoutAByte() async throws {
        let server = try MockServer()
        server.on(nil, "/**") { $0.number > 1 ? .closeBeforeHead : StubAnswer.status(200, body: "first") }
        let client = try RawClient(port: server.port)
        #expect(try await client.ask(Wire.get()).body == "first")
        try await client.send(Wire.get())
        #expect(try await client.receiveAll() == "")
    }
}
