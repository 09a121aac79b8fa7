#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

/// Interim responses and trailers of HTTP/2 (RFC 9113 §8.1).
@Suite(.againstHanging) struct CurlHTTP2HeadsTests {
    private let transport = CurlTransport(versions: .http2PriorKnowledge, proxy: .none)

    private func request(
        _ script: HTTP2Script,
        _ mode: ResponseBodyMode,
        _ heads: Notes<HTTPResponse>
    ) -> HTTPRequest {
        var request = HTTPRequest(url: script.url)
        request.context.responseBody = mode
        request.context.interim = { heads.add($0) }
        return request
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func interimResponsesAndTrailersSurroundTheResponse(mode: ResponseBodyMode) async throws {
        let script = try HTTP2Script([
            .head([(":status", "103"), ("link", "</a.css>")]),
            .head([(":status", "102")]),
            .head([(":status", "200"), ("content-type", "text/plain")]),
            .data("content"),
            .head([("x-checksum", "1"), ("x-checksum", "2"), ("set-cookie", "a=b")], endsStream: true),
        ])
        let heads = Notes<HTTPResponse>()
        let response = try await transport.send(request(script, mode, heads))
        #expect(response.context.connection?.httpVersion == .http2)
        #expect(heads.all.map(\.status.code) == [103, 102])
        #expect(heads.all.first?.headers == ["link": "</a.css>"])
        #expect(response.headers == [.contentType: "text/plain"])
        #expect(try await content(of: response) == "content")
        #expect(try response.trailers == ["x-checksum": "1", "x-checksum": "2"])
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func trailersAfterAnAnnouncedLengthAreNotTakenForNone(mode: ResponseBodyMode) async throws {
        let script = try HTTP2Script([
            .head([(":status", "200"), ("content-length", "7")]), .data("content"),
            .head([("grpc-status", "0")], endsStream: true),
        ])
        let response = try await transport.send(request(script, mode, Notes()))
        #expect(try await content(of: response) == "content")
        // libcurl 7.88 drops them. A later version may report them.
        if response.context.trailers?.fields == nil {
            let error = #expect(throws: TransportError.self) { try response.trailers }
            #expect(error?.code == .trailersUnavailable)
        } else {
            #expect(try response.trailers == ["grpc-status": "0"])
        }
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func responseWithoutTrailersHasNone(mode: ResponseBodyMode) async throws {
        let script = try HTTP2Script([.head([(":status", "200")]), .data("content", endsStream: true)])
        let response = try await transport.send(request(script, mode, Notes()))
        #expect(try await content(of: response) == "content")
        #expect(try response.trailers.isEmpty)
    }
}
#endif
