#if os(Linux)
import Foundation
import Glibc
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

/// A transport leaves no threads and no descriptors behind. Each test counts them in a separate process.
@Suite(.againstHanging, .heavy) struct CurlLeakTests {
    private static let threadName = "Interceptors"

    /// Plays a scene six times and expects no leaks. The first time is for resources that the process keeps for good.
    private static func expectNothingLeft(of scene: (MockServer) async throws -> Void) async throws {
        let rounds = 6
        var before = 0
        for round in 0..<rounds {
            let server = try MockServer()
            server.on(.get, "/ok", .status(200, body: "ok"))
            server.on(nil, "/never", .neverAnswer)
            server.on(.get, "/stall", .stallInBody(after: Data("abc".utf8), of: 9))
            server.on(.post, "/deaf", .neverAnswer, readsBody: false)
            try await scene(server)
            // When a transport has shut down, its thread has done all its work, but may take a moment to disappear.
            await OwnProcess.reaches { OwnProcess.threads(named: threadName) == 0 }
            server.stop()
            if round == 0 { before = OwnProcess.descriptors }
        }
        // Fewer than one descriptor per scene: the process may open one or two for itself after the first.
        await OwnProcess.reaches { [before] in OwnProcess.descriptors < before + rounds - 1 }
    }

    private static func send(
        _ transport: CurlTransport,
        _ server: MockServer,
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        body: HTTPBody = .empty,
        mode: ResponseBodyMode = .buffered
    ) async throws -> HTTPResponse {
        try await transport.send(makeRequest(server, path, method, body: body, responseBody: mode))
    }

    /// A megabyte, and no end. Both a reader that waits for more and one that still has bytes to send must release the
    /// source when told to stop. Nobody else holds the source.
    private static func endlessBody(onEnd: @escaping @Sendable () -> Void) -> HTTPBody {
        let (source, feed) = AsyncStream.makeStream(of: Data.self)
        feed.onTermination = { _ in onEnd() }
        feed.yield(Data(count: 1 << 20))
        return .oneShot(source)
    }

    private static func expectLost(_ call: Task<some Sendable, any Error>) async {
        let result = await call.result
        #expect(throws: TransportError.self) { _ = try result.get() }
        if case .failure(let error as TransportError) = result { #expect(error.code == .connectionLost) }
    }

    private func expectNoMisuse(_ result: ExitTest.Result?) {
        // Swift reports a continuation that is never resumed, or resumed twice, on standard error.
        #expect(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains("MISUSE") == false)
    }

    @Test func droppedTransportLeavesNothing() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Self.expectNothingLeft { server in
                let transport = CurlTransport()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 { group.addTask { _ = try await Self.send(transport, server, "/ok") } }
                    try await group.waitForAll()
                }
                #expect(OwnProcess.threads(named: Self.threadName) == 1)
            }
        }
        expectNoMisuse(result)
    }

    @Test func transportThatWasNeverUsedLeavesNothing() async {
        await #expect(processExitsWith: .success) {
            try await Self.expectNothingLeft { _ in
                for _ in 0..<10 { _ = CurlTransport() }
                await CurlTransport().shutDown()
            }
        }
    }

    /// libcurl creates a handle even without descriptors. Nothing could wake such a handle, so calls would hang.
    @Test func withoutDescriptorsCallsFailInsteadOfHanging() async {
        await #expect(processExitsWith: .success) {
            try await Self.expectNothingLeft { server in
                let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(getrlimit(files, &limit) == 0)
                var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
                try #require(setrlimit(files, &none) == 0)
                let transport = CurlTransport()
                try #require(setrlimit(files, &limit) == 0)
                let error = try await failure { try await Self.send(transport, server, "/ok") }
                #expect(error.code == .transportFailed && error.message.contains("descriptors"), "\(error)")
                #expect(try await Self.send(CurlTransport(), server, "/ok").status == 200)
            }
        }
    }

    @Test func shutDownEndsCallsInFlightAndLeavesNothing() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Self.expectNothingLeft { server in
                let transport = CurlTransport()
                let calls = (0..<20).map { _ in Task { try await Self.send(transport, server, "/never") } }
                await server.requests(atLeast: 20)
                await transport.shutDown()
                for call in calls { await Self.expectLost(call) }
                // Later calls fail, too.
                await Self.expectLost(Task { try await Self.send(transport, server, "/ok") })
                await transport.shutDown()
            }
        }
        expectNoMisuse(result)
    }

    @Test func shutDownEndsStreamsBothWaysAndLeavesNothing() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Self.expectNothingLeft { server in
                let transport = CurlTransport()
                let response = try await Self.send(transport, server, "/stall", mode: .streamed)
                let (ends, ended) = AsyncStream.makeStream(of: Void.self)
                let upload = Task {
                    try await Self.send(transport, server, "/deaf", .post, body: Self.endlessBody { ended.finish() })
                }
                let reading = Task { try await response.body.collect(upTo: 100) }
                await server.requests(atLeast: 2)
                await transport.shutDown()
                await Self.expectLost(upload)
                await Self.expectLost(reading)
                // The upload's source is released, too.
                for await _ in ends {}
            }
        }
        expectNoMisuse(result)
    }

    @Test func droppedOrDiscardedStreamsLetTheirTransportGo() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Self.expectNothingLeft { server in
                // The body alone keeps the transport's thread alive, until it is dropped.
                _ = try await Self.send(CurlTransport(), server, "/stall", mode: .streamed)
                let response = try await Self.send(CurlTransport(), server, "/stall", mode: .streamed)
                #expect(OwnProcess.threads(named: Self.threadName) >= 1)
                response.body.discard()
                let partly = try await Self.send(CurlTransport(), server, "/stall", mode: .streamed)
                var iterator = partly.body.makeAsyncIterator()
                #expect(try await iterator.next() == Data("abc".utf8))
            }
        }
        expectNoMisuse(result)
    }

    /// While more bytes are likely to come, a waiting reader isn't served at once. Even then it keeps nothing alive.
    @Test func streamsReadToTheirEndLetTheirTransportGo() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Self.expectNothingLeft { server in
                let size = 2 << 20
                server.on(.get, "/large", .status(200, body: Data(count: size)))
                for _ in 0..<10 {
                    let response = try await Self.send(CurlTransport(), server, "/large", mode: .streamed)
                    var count = 0
                    for try await chunk in response.body { count += chunk.count }
                    #expect(count == size)
                }
            }
        }
        expectNoMisuse(result)
    }

    @Test func cancelledCallsAndFailedOnesLeaveNothing() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Self.expectNothingLeft { server in
                let transport = CurlTransport()
                let calls = (0..<20).map { _ in Task { try await Self.send(transport, server, "/never") } }
                await server.requests(atLeast: 20)
                for call in calls { call.cancel() }
                for call in calls {
                    await #expect(throws: CancellationError.self) { try await call.value }
                }
                let nobody = HTTPRequest(url: try #require(URL(string: "http://nobody.invalid/")))
                await #expect(throws: TransportError.self) { try await transport.send(nobody) }
                server.enqueue(.garbage, .reset, .closeInHead, .closeInBody(after: 1, of: 2))
                for _ in 0..<4 {
                    await #expect(throws: TransportError.self) { try await Self.send(transport, server, "/") }
                }
            }
        }
        expectNoMisuse(result)
    }

    @Test func transportWithPinsLeavesNothing() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Self.expectNothingLeft { _ in
                let fixture = try TLSFixture()
                defer { fixture.server.stop() }
                for pin in [fixture.root.certificate.publicKeyPin, CurlPinningTests.otherPin] {
                    _ = try? await CurlTransport(.init(tls: .pinned([pin], trust: fixture.trust))).send(
                        fixture.request()
                    )
                }
            }
        }
        expectNoMisuse(result)
    }
}
#endif
