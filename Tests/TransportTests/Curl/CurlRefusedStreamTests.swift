#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

/// Requests whose stream the server refuses, so that it has processed nothing of them (RFC 9113 §8.7).
@Suite(.againstHanging) struct CurlRefusedStreamTests {
    private static let refusal = [HTTP2Script.Frame.reset(7)]
    private static let answer: [HTTP2Script.Frame] = [.head([(":status", "200")]), .data("content", endsStream: true)]

    private let transport = CurlTransport(versions: .http2PriorKnowledge, proxy: .none)

    private static let repeatable: [(HTTPRequest.Method, HTTPFields)] = [
        (.get, [:]), (.delete, [:]), (.post, [.idempotencyKey: "1"]),
    ]

    @Test(arguments: repeatable)
    func refusedRequestIsSentOnANewConnection(method: HTTPRequest.Method, fields: HTTPFields) async throws {
        let server = try HTTP2Script(connections: [Self.refusal, Self.answer])
        let response = try await transport.send(HTTPRequest(method: method, url: server.url, headers: fields))
        #expect(try await content(of: response) == "content")
        #expect(server.requests == 2)
        await transport.shutDown()
    }

    /// libcurl doesn't say whether the server refused a stream or closed the connection, after which a POST may have had its effect.
    @Test func refusedPostIsNotSentAgainAndTheErrorNamesBothCauses() async throws {
        let server = try HTTP2Script(connections: [Self.refusal, Self.answer])
        let request = HTTPRequest(method: .post, url: server.url, body: "content")
        let error = try await failure { try await transport.send(request) }
        #expect(error.code == .connectionLost && !error.sentNothing)
        #expect(error.message.contains("closed its kept-alive connection, or refused the request there"), "\(error)")
        #expect(server.requests == 1)
        await transport.shutDown()
    }
}
#endif
