#if os(Linux)
import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

/// Framing that RFC 9112 §6.3 forbids.
@Suite(.againstHanging) struct CurlFramingTests {
    static let forbidden = [
        "Content-Length: 5\r\nContent-Length: 3", "Content-Length: 3, 5", "Content-Length: 2abc", "Content-Length: 0x4",
        "Content-Length: 99999999999999999999", "Content-Length: 18446744073709551618", "Content-Length: +2",
        "Content-Length: -2", "Content-Length:", "Content-Length: 2,", "Content-Length: 2 2", "Content-Length : 2",
        "Content-Length: 2\r\n 0", "content-length: 2\r\nCONTENT-LENGTH: 4", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding : chunked", "Content-Length: 2\r\nX-A: a\rb",
        "Content-Length: 2\r\nX-A: a\rContent-Length: 4",
    ]

    @Test(arguments: forbidden, [ResponseBodyMode.buffered, .streamed])
    func forbiddenFramingIsAnErrorAndItsConnectionIsNotUsedAgain(head: String, mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        let bytes =
            head.contains("chunked") ? "2\r\nok\r\n0\r\n\r\n" : "okHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
        server.on(.get, "/bad") { _ in StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n\(bytes)")]) }
        server.on(.get, "/next", .status(200, body: "good"))
        let transport = CurlTransport()
        let request = try makeRequest(server, "/bad", responseBody: mode)
        let error = try await failure { try await transport.send(request) }
        #expect(error.code == .invalidResponse, "\(error)")
        #expect(try await content(of: transport.send(makeRequest(server, "/next"))) == "good")
        #expect(server.requests.map(\.connection) == [1, 2])
        await transport.shutDown()
    }

    @Test(arguments: [
        "Content-Length: 2", "Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2 ,2", "Content-Length:\t002\t",
        "Content-Length: 2\nX-A: b", "X-Content-Length: 9\r\nContent-Length: 2",
        "Content-Lengths: 9\r\nContent-Length: 2", "Content-Length: 2\r\nX-A: b\r\n c",
    ])
    func allowedFramingIsTaken(head: String) async throws {
        let server = try MockServer()
        server.on(.get, "/") { _ in StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\n\(head)\r\n\r\nok")]) }
        let transport = CurlTransport()
        for _ in 0..<2 { #expect(try await content(of: transport.send(makeRequest(server))) == "ok") }
        #expect(server.connectionsOpened == 1)
        await transport.shutDown()
    }

    /// RFC 9112 §6.1: a proxy that knows only HTTP/1.0 may have passed the field on without knowing it.
    @Test(arguments: [("1.0", 2), ("1.1", 1)])
    func connectionThatSentChunksInHTTP10IsNotUsedAgain(version: String, connections: Int) async throws {
        let server = try MockServer()
        let head = "HTTP/\(version) 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked"
        server.on(.get, "/") { _ in StubAnswer(steps: [.send("\(head)\r\n\r\n2\r\nok\r\n0\r\n\r\n")]) }
        let transport = CurlTransport()
        for _ in 0..<2 { #expect(try await content(of: transport.send(makeRequest(server))) == "ok") }
        #expect(server.connectionsOpened == connections)
        await transport.shutDown()
    }

    /// libcurl 7.88 accepts such a size. A later version may fail the call.
    @Test(arguments: ["5:x", "5 x"]) func chunkSizeBeforeOtherBytesChangesNoContent(size: String) async throws {
        let server = try MockServer()
        let chunks = "\(size)\r\nhello\r\n0\r\n\r\n"
        server.enqueue(StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")]))
        let transport = CurlTransport()
        do {
            #expect(try await content(of: transport.send(makeRequest(server))) == "hello")
        } catch let error as TransportError {
            #expect(error.code == .invalidResponse, "\(error)")
        }
        await transport.shutDown()
    }

    @Test func framingOfAnInterimResponseIsNotThatOfTheFinalOne() async throws {
        let server = try MockServer()
        let interim = "HTTP/1.1 103 Hints\r\nContent-Length: 7\r\n\r\n"
        server.enqueue(StubAnswer(steps: [.send(interim + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]))
        #expect(try await content(of: CurlTransport().send(makeRequest(server))) == "ok")
    }

    /// RFC 9112 §9.8: an attacker who can cut a connection must not be able to cut a body unnoticed.
    @Test(arguments: [TLSVersion.tls12, .tls13], [ResponseBodyMode.buffered, .streamed])
    func contentThatEndsWithoutACloseOfTLSIsTruncated(version: TLSVersion, mode: ResponseBodyMode) async throws {
        let fixture = try TLSFixture(maximumVersion: version)
        let transport = CurlTransport(.init(tls: TLSConfiguration(trust: fixture.trust)))
        let text = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf of"
        fixture.server.on(nil, "/cut") { _ in StubAnswer(steps: [.send(text), .close]) }
        fixture.server.on(nil, "/whole") { _ in .untilClose(Data("all of it".utf8)) }
        fixture.server.on(nil, "/length") { _ in
            StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"), .close])
        }
        let error = try await failure {
            let response = try await transport.send(makeRequest(fixture.server, "/cut", responseBody: mode))
            return try await content(of: response)
        }
        #expect(error.code == .truncated, "\(error)")
        for (path, text) in [("/whole", "all of it"), ("/length", "ok")] {
            let response = try await transport.send(makeRequest(fixture.server, path, responseBody: mode))
            #expect(try await content(of: response) == text)
        }
        await transport.shutDown()
    }
}
#endif
