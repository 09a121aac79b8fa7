import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

// The source of a one-shot body learns when a transport stops reading before the end.
@Suite(.againstHanging) struct DiscardedUploadTests {

    /// A source that gives a few bytes, then nothing until it is ended, even if the task that waits for it is
    /// cancelled.
    private struct Source: Sendable {
        let given = Gate()
        let ended = Gate()
        var body: HTTPBody {
            let notes = Notes<Void>()
            let stream = AsyncStream<Data> { [given, ended] in
                if notes.all.isEmpty {
                    notes.add(())
                    return Data("some")
                }
                given.open()
                await withUnsafeContinuation { continuation in
                    Task.detached {
                        await ended.opened()
                        continuation.resume()
                    }
                }
                return nil
            }
            return .oneShot(stream) { [ended] in ended.open() }
        }
    }

    private static var transports: [any Transport] {
        #if os(Linux)
        [URLSessionTransport(), CurlTransport(), StubTransport()]
        #else
        [URLSessionTransport(), StubTransport()]
        #endif
    }

    @Test func aCancelledUploadEndsItsSource() async throws {
        let server = try MockServer()
        for transport in Self.transports {
            let source = Source()
            let request = try makeRequest(server, "/", .put, body: source.body)
            let call = Task { try await transport.send(request) }
            await source.given.opened()
            call.cancel()
            await source.ended.opened()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
    }

    @Test func whatASourceThrowsWhenItIsGivenUpIsNotToldOfACancelledUpload() async throws {
        let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        let body = HTTPBody.oneShot(stream) { continuation.finish(throwing: Broken()) }
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await body.forEachChunk { _ in }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test func anUploadWhoseSourceFailsEndsIt() async throws {
        let server = try MockServer()
        for transport in Self.transports {
            let stream = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Broken()) }
            let ended = Gate()
            let request = try makeRequest(server, "/", .put, body: .oneShot(stream) { ended.open() })
            await #expect(throws: Broken()) { try await transport.send(request) }
            await ended.opened()
        }
    }

    @Test func anUploadThatIsReadToItsEndDiscardsNothing() async throws {
        let server = try MockServer()
        server.on(.put, "/") { request in StubAnswer.status(200, body: "\(request.bodyLength)") }
        let stub = StubTransport()
        stub.enqueue(.status(200))
        for transport in Self.transports.dropLast() + [stub] {
            let stream = AsyncStream<Data> { continuation in
                continuation.yield(Data("all"))
                continuation.finish()
            }
            let discards = Notes<Void>()
            let request = try makeRequest(server, "/", .put, body: .oneShot(stream) { discards.add(()) })
            #expect(try await transport.send(request).status == 200)
            #expect(discards.all.isEmpty)
        }
    }

    #if os(Linux)
    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func anEarlyAnswerEndsTheSource(mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        let source = Source()
        server.on(.put, "/early", readsBody: false) { [given = source.given] _ in
            await given.opened()
            return StubAnswer.status(413, body: "too large")
        }
        let transport = CurlTransport()
        let request = try makeRequest(server, "/early", .put, body: source.body, responseBody: mode)
        let response = try await transport.send(request)
        #expect(response.status == 413)
        #expect(try await content(of: response) == "too large")
        await source.ended.opened()
        await transport.shutDown()
    }

    @Test func anUploadThatWasAnsweredBeforeItsSourceSaidThatThisWasAllDiscardsNothing() async throws {
        let server = try MockServer()
        server.on(.put, "/") { request in StubAnswer.status(200, body: "\(request.bodyLength)") }
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("all"))
        let discards = Notes<Void>()
        let transport = CurlTransport()
        let body = HTTPBody.oneShot(stream, length: 3) { discards.add(()) }
        let response = try await transport.send(try makeRequest(server, "/", .put, body: body))
        #expect(try await content(of: response) == "3")
        await transport.shutDown()
        #expect(discards.all.isEmpty)
        continuation.finish()
    }

    @Test func aConnectionThatFailsLeavesTheSourceToBeSentAgain() async throws {
        let (transport, source) = (CurlTransport(), Source())
        let port = try UnusedPort()
        defer { withExtendedLifetime(port) {} }
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let request = HTTPRequest(method: .put, url: url, body: source.body)
        #expect(try await failure { try await transport.send(request) }.code == .cannotConnect)
        await transport.shutDown()
        #expect(request.body.isReadable)
        request.body.discard()
        await source.ended.opened()
    }
    #endif
}
