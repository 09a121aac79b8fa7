#if os(Linux)
import Foundation
import TestSupport
import Testing
import Transport
import TransportTesting

@Suite(.timeLimit(.minutes(5))) struct CurlUploadTests {
    /// libcurl stops to send, but would wait for an upload that waits for its next bytes.
    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func refusalBeforeTheUploadIsThroughIsTheResponse(mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
        server.on(.put, "/early", readsBody: false) { _ in
            for await _ in wakes {}
            return MockResponse(status: 413, body: "too large")
        }
        server.on(.get, "/", MockResponse(body: "ok"))
        // A source that gives a little and then nothing until it is let go.
        let (source, feed) = AsyncStream.makeStream(of: Data.self)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        feed.onTermination = { _ in ended.finish() }
        feed.yield(Data("abc".utf8))
        var request = try makeRequest(server, "/early", .put, body: .oneShot(source), responseBody: mode)
        request.context.uploadProgress = { _ in wake.finish() }
        let transport = CurlTransport()
        let response = try await transport.send(request)
        #expect(response.status == 413)
        #expect(try await response.body.collect(upTo: 100) == Data("too large".utf8))
        for await _ in ends {}
        #expect(try await transport.send(makeRequest(server)).status == 200)
        await transport.shutDown()
    }
}
#endif
