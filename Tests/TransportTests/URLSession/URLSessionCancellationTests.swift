import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct URLSessionCancellationTests {
    let server: MockServer
    let transport = URLSessionTransport(timeouts: Timeouts(idle: nil))

    init() throws { server = try MockServer() }

    @Test func aTaskThatIsCancelledAlreadySendsNothing() async throws {
        let gate = Gate()
        let call = Task {
            await gate.opened()
            return try await transport.send(makeRequest(server))
        }
        call.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(server.connectionsOpened == 0)
    }

    @Test func cancellingBeforeTheHeadEndsTheCallAndTheConnection() async throws {
        server.enqueue(.neverAnswer)
        let call = Task { try await transport.send(makeRequest(server)) }
        await server.requests(atLeast: 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await server.closedConnections(1)
    }

    @Test func cancellingWithinTheContentEndsTheCallAndTheConnection() async throws {
        server.enqueue(StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .waitForever]))
        let (progress, continuation) = AsyncStream.makeStream(of: Void.self)
        var request = try makeRequest(server)
        request.context.downloadProgress = { _ in continuation.yield() }
        let call = Task { [request] in try await transport.send(request) }
        for await _ in progress { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await server.closedConnections(1)
    }

    // The server can't see the close, because bytes that it doesn't read come first.
    @Test func cancellingAnUploadThatNobodyReadsIsImmediate() async throws {
        server.on(.put, "/", readsBody: false) { _ in .neverAnswer }
        let (progress, continuation) = AsyncStream.makeStream(of: Void.self)
        var request = try makeRequest(server, "/", .put, body: HTTPBody(Data(count: 50_000_000)))
        request.context.uploadProgress = { _ in continuation.yield() }
        let call = Task { [request] in try await transport.send(request) }
        for await _ in progress { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func cancellingAfterTheEndChangesNothing() async throws {
        server.enqueue(.status(200, body: "done"))
        let call = Task { try await transport.send(makeRequest(server)) }
        let response = try await call.value
        call.cancel()
        #expect(try await content(of: response) == "done")
    }

    @Test func cancellingOneCallLeavesTheOthers() async throws {
        let gate = Gate()
        server.on(.get, "/**") { _ in
            await gate.opened()
            return StubAnswer.status(200, body: "ok")
        }
        let calls = try (0..<4).map { index in
            let request = try makeRequest(server, "/\(index)")
            return Task { try await transport.send(request) }
        }
        await server.requests(atLeast: 4)
        calls[1].cancel()
        await #expect(throws: CancellationError.self) { try await calls[1].value }
        gate.open()
        for index in [0, 2, 3] { #expect(try await calls[index].value.status == 200) }
    }

    // A continuation that is resumed twice traps, and one that is never resumed hangs. The test ends only if each is
    // resumed once.
    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func eachOfManyCancelledCallsEndsOnce(mode: ResponseBodyMode) async throws {
        let responses: [StubAnswer] = [
            StubAnswer.status(200, body: "ok"), .neverAnswer, .stream([Data("a"), Data("b")]), .closeBeforeHead,
            .reset,
            .closeInBody(after: 5, of: 10), .repeating(Data(count: 1000), times: 1000),
        ]
        server.on(.get, "/**") { request in responses[(Int(request.path.dropFirst()) ?? 0) % responses.count] }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    let call = Task {
                        let request = try makeRequest(server, "/\(index)", responseBody: mode)
                        return try await content(of: transport.send(request))
                    }
                    for _ in 0..<(index * 7 % 40) { await Task.yield() }
                    call.cancel()
                    switch await call.result {
                    case .success: break
                    case .failure(let error):
                        #expect(error is CancellationError || error is TransportError)
                    }
                }
            }
        }
    }
}
