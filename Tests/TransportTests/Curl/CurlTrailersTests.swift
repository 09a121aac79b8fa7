#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct CurlTrailersTests {
    private let server: MockServer
    private let transport = CurlTransport()

    init() throws { server = try MockServer() }

    private func code(_ response: HTTPResponse) throws -> HTTPErrorCode? {
        do {
            _ = try response.trailers
            return nil
        } catch let error as any HTTPError {
            return error.code
        }
    }

    @Test func trailersOfABufferedResponseAreKnownAtOnceWithSpellingAndOrder() async throws {
        let sent: HTTPFields = ["X-B": "2", "x-b": "1", "Repr-Digest": "sha-256=:AA==:"]
        server.enqueue(.stream([Data("a"), Data("b")], trailers: sent))
        let response = try await transport.send(makeRequest(server))
        #expect(try response.trailers == sent)
        #expect(try response.trailers.map(\.name.rawName) == ["X-B", "x-b", "Repr-Digest"])
        #expect(try await content(of: response) == "ab")
    }

    @Test(arguments: [
        StubAnswer.text("ok"), .stream([Data("ok")]), .untilClose(Data("ok")), .status(204), .status(304),
    ])
    func responseWithoutTrailersHasNone(response: StubAnswer) async throws {
        server.enqueue(response, response)
        #expect(try await transport.send(makeRequest(server)).trailers.isEmpty)
        let streamed = try await transport.send(makeRequest(server, responseBody: .streamed))
        _ = try await content(of: streamed)
        #expect(try streamed.trailers.isEmpty)
    }

    @Test func headHasNoTrailers() async throws {
        server.enqueue(.stream([Data("ok")], trailers: ["X-A": "1"]))
        let response = try await transport.send(makeRequest(server, "/", .head, responseBody: .streamed))
        #expect(try response.trailers.isEmpty)
    }

    /// The loop sees the end long before the reader does.
    @Test func readerThatLagsBehindFindsNoTrailersBeforeTheEnd() async throws {
        let chunk = Data(count: 100_000)
        server.enqueue(.stream(Array(repeating: chunk, count: 20), trailers: ["X-A": "1"]))
        let response = try await transport.send(makeRequest(server, responseBody: .streamed))
        var count = 0
        for try await piece in response.body {
            #expect(try code(response) == .trailersNotReceived)
            count += piece.count
        }
        #expect(count == 2_000_000)
        #expect(try response.trailers == ["X-A": "1"])
    }

    @Test func trailersFollowDecodedContent() async throws {
        let gzip: [UInt8] = [
            0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x90, 0, 0x80,
            0x88,
            0xF9, 0xE5, 0x11, 0, 0, 0,
        ]
        let answer = StubAnswer.stream([Data(gzip)], trailers: ["X-A": "1"], headers: [.contentEncoding: "gzip"])
        server.enqueue(answer, answer)
        for mode in [ResponseBodyMode.buffered, .streamed] {
            let response = try await transport.send(makeRequest(server, responseBody: mode))
            #expect(try await content(of: response) == "hello hello hello")
            #expect(try response.trailers == ["X-A": "1"])
        }
    }

    @Test func contentThatIsCutOrDiscardedHasNoTrailers() async throws {
        server.enqueue(
            .stream([Data("a")], thenFailing: CancellationError()),
            .stream([Data("a")], trailers: ["X-A": "1"])
        )
        let cut = try await transport.send(makeRequest(server, responseBody: .streamed))
        let error = try await failure { try await content(of: cut) }
        #expect(error.code == .truncated)
        #expect(try code(cut) == .trailersNotReceived)
        let discarded = try await transport.send(makeRequest(server, responseBody: .streamed))
        discarded.body.discard()
        #expect(try code(discarded) == .trailersNotReceived)
    }

    @Test func eachResponseOnAConnectionHasItsOwnTrailers() async throws {
        server.enqueue(
            .stream([Data("a")], trailers: ["X-A": "1"]),
            .text("b"),
            .stream([Data("c")], trailers: ["X-C": "3"])
        )
        for expected in [["X-A": "1"], [:], ["X-C": "3"]] as [HTTPFields] {
            #expect(try await transport.send(makeRequest(server)).trailers == expected)
        }
        #expect(server.connectionsOpened == 1)
    }

    @Test func foldedTrailerIsOneField() async throws {
        server.enqueue(
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: a\r\n b\r\n\r\n")
        )
        #expect(try await transport.send(makeRequest(server)).trailers == ["X-A": "a b"])
    }
}
#endif
