#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

/// Trailers of requests (RFC 9110 §6.5), which libcurl sends in the chunked coding of HTTP/1.1.
@Suite(.againstHanging) struct CurlRequestTrailersTests {
    private let server: MockServer
    private let transport = CurlTransport()

    init() throws {
        server = try MockServer()
        server.on(nil, "/", .text("ok"))
    }

    private func request(_ method: HTTPRequest.Method = .post, _ body: HTTPBody) throws -> HTTPRequest {
        HTTPRequest(method: method, url: server.url, body: body)
    }

    private func stream(_ texts: [String]) -> HTTPBody {
        .restartable {
            AsyncStream { feed in
                for text in texts { feed.yield(Data(text.utf8)) }; feed.finish()
            }
        }
    }

    @Test func knownTrailersFollowContentOfEachKind() async throws {
        let folder = try TemporaryFolder()
        let bodies: [HTTPBody] = [
            HTTPBody(Data("content".utf8)), try HTTPBody(file: folder.write(Data("content".utf8))),
            stream(["con", "tent"]), .restartable(length: 7) { stream(["content"]) },
        ]
        let fields: HTTPFields = ["X-B": "2", "x-b": "1", "X-Empty": "", "Repr-Digest": "sha-256=:AA==:"]
        for body in bodies {
            var request = try request(.put, body)
            request.context.requestTrailers = HTTPTrailers(fields)
            let response = try await transport.send(request)
            #expect(response.context.connection?.httpVersion == .http11)
            let received = try #require(server.requests.last)
            #expect(received.text == "content")
            #expect(received.trailerFields == fields)
            #expect(received.headerFields[.trailer] == "X-B, X-Empty, Repr-Digest")
            #expect(received.headerFields[.contentLength] == nil)
            // The trailers of a request say nothing about its response.
            #expect(try response.trailers.isEmpty)
        }
        #expect(server.connectionsOpened == 1)
    }

    @Test func trailersAreComputedWhenTheContentHasBeenRead() async throws {
        let (count, calls) = (Shared(0), Tally())
        let bodies: [HTTPBody] = [
            .oneShot(stream(["a", "b", "c"])),
            .restartable {
                // Begins again with the content.
                count.value = 0
                return stream(["a", "b", "c"])
            },
        ]
        for body in bodies {
            count.value = 0
            var request = try request(.post, body)
            request.headerFields[.trailer] = "X-Chunks"
            request.context.requestTrailers = .atEnd {
                calls.count()
                return ["X-Chunks": "\(count.value)"]
            }
            request.body = request.body.map { chunk in
                count.change { $0 += 1 }
                return chunk
            }
            _ = try await transport.send(request)
            let received = try #require(server.requests.last)
            #expect(received.text == "abc")
            #expect(received.trailerFields == ["X-Chunks": "3"])
            #expect(received.headerFields[values: .trailer] == ["X-Chunks"])
        }
        #expect(calls.value == bodies.count)
    }

    @Test func trailersThatNobodyReceivesFailTheCall() async throws {
        for fields in [nil, HTTPTrailers.pending()] {
            let trailers = fields ?? .pending()
            if fields == nil { trailers.receive(nil) }
            var request = try request(.post, stream(["a"]))
            request.context.requestTrailers = trailers
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            #expect(error?.code == .trailersNotReceived)
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete])
    func trailersFollowEmptyContent(method: HTTPRequest.Method) async throws {
        for body in [
            HTTPBody.empty, stream([]), .restartable(length: 0) { stream([]) }, .oneShot(stream([]), length: 0),
        ] {
            var request = try request(method, body)
            request.context.requestTrailers = HTTPTrailers(["X-A": "1"])
            _ = try await transport.send(request)
            #expect(server.requests.last?.trailerFields == ["X-A": "1"], "\(body)")
            #expect(server.requests.last?.body.isEmpty == true)
        }
    }

    @Test func contentOfAnotherLengthFailsTheCall() async throws {
        var request = try request(.post, .restartable(length: 3) { stream(["content"]) })
        request.context.requestTrailers = HTTPTrailers(["X-A": "1"])
        let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
        #expect(error?.code == .bodyLengthMismatch)
        #expect(server.requests.isEmpty)
    }

    @Test(
        arguments: [
            [.authorization: "hush"], [.contentLength: "7"], ["X-A": "1", "X-Bad": "a\r\nX-Smuggled: 1"], ["X A": "1"],
        ] as [HTTPFields]
    )
    func aRequestWithFieldsThatNoTrailerMayHoldIsRefused(fields: HTTPFields) async throws {
        let pending = HTTPTrailers.pending()
        for trailers in [HTTPTrailers(fields), .atEnd { fields }, pending] {
            var request = try request(
                .post,
                stream(["content"])
                    .map { chunk in
                        pending.receive(fields)
                        return chunk
                    }
            )
            request.context.requestTrailers = trailers
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message.contains("hush") == false)
        }
        // Content without its trailers isn't complete.
        #expect(server.requests.isEmpty)
    }

    @Test func theNextRequestHasNoTrailers() async throws {
        for turn in 0..<3 {
            var first = try request(.post, stream(["first"]))
            first.context.requestTrailers = HTTPTrailers(["X-A": "\(turn)"])
            _ = try await transport.send(first)
            #expect(server.requests.last?.trailerFields == ["X-A": "\(turn)"])
            for body in [stream(["ne", "xt"]), HTTPBody("next")] {
                _ = try await transport.send(try request(.post, body))
                #expect(server.requests.last?.text == "next")
                #expect(server.requests.last?.trailerFields.isEmpty == true)
                #expect(server.requests.last?.headerFields[.trailer] == nil)
            }
        }
    }

    /// Before 8.7, libcurl's handle takes all later trailers for sent, and writes outside of its buffer (`trailers_state`).
    @Test(arguments: [(0x074400, true), (0x075100, true), (0x080500, true), (0x080600, true), (0x080700, false)])
    func handleIsUsedOnceWhereItKeepsTheStateOfTrailers(version: UInt32, isKept: Bool) {
        #expect(CurlLibrary.spoilsHandle(hadTrailers: true, version: version) == isKept)
    }

    @Test func trailersComeAgainWithContentThatIsSentAgain() async throws {
        let refusing = try MockServer()
        refusing.on(.put, "/", readsBody: false) { request in
            request.headerFields.contains(.expect) ? .status(417) : .text("ok")
        }
        var request = HTTPRequest(
            method: .put,
            url: refusing.url,
            headerFields: [.expect: "100-continue"],
            body: "content"
        )
        request.context.requestTrailers = HTTPTrailers(["X-A": "1"])
        #expect(try await transport.send(request).status == 200)
        #expect(refusing.requests.map { $0.headerFields[.trailer] } == ["X-A", "X-A"])
    }

    @Test func aRequestThatCannotHaveTrailersIsRefused() async throws {
        for method in [HTTPRequest.Method.get, .head] {
            var request = try request(method, .empty)
            request.context.requestTrailers = HTTPTrailers(["X-A": "1"])
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            #expect(error?.code == .invalidRequest)
        }
        var request = try request(.post, "content")
        request.context.requestTrailers = HTTPTrailers(["X-A": "1"])
        let http2 = CurlTransport(versions: .http2PriorKnowledge)
        let error = await #expect(throws: TransportError.self) { try await http2.send(request) }
        #expect(error?.code == .unsupported)
        #expect(server.requests.isEmpty)
    }
}
#endif
