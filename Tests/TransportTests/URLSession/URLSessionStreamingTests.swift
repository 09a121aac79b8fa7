import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct URLSessionStreamingTests {
    let server: MockServer
    let transport = URLSessionTransport(timeouts: Timeouts(idle: nil))

    init() throws { server = try MockServer() }

    private static let head = MockServer.Step.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    /// A response that begins and never ends.
    private static let endless = StubAnswer(steps: [head, .send("5\r\nfirst\r\n"), .waitForever])

    /// A response that sends this many kilobytes at once, then nothing more, and doesn't end.
    private static func kilobytes(_ count: Int) -> StubAnswer {
        let piece = Data("3e8\r\n" + String(repeating: "x", count: 1000) + "\r\n")
        return StubAnswer(steps: [head, .send(piece, times: count), .waitForever])
    }

    private func stream(_ response: StubAnswer, _ transport: URLSessionTransport? = nil) async throws -> HTTPResponse {
        server.enqueue(response)
        return try await (transport ?? self.transport).send(makeRequest(server, responseBody: .streamed))
    }

    @Test func chunksComeAsTheyAreSent() async throws {
        let gates = (0..<3).map { _ in Gate() }
        let pieces = ["one", "two", "six"].enumerated().flatMap { index, piece -> [MockServer.Step] in
            [.run { await gates[index].opened() }, .send("3\r\n\(piece)\r\n")]
        }
        let response = try await stream(StubAnswer(steps: [Self.head] + pieces + [.send("0\r\n\r\n")]))
        var reading = response.body.makeAsyncIterator()
        for (gate, piece) in zip(gates, ["one", "two", "six"]) {
            gate.open()
            #expect(try await reading.next() == Data(piece))
        }
        #expect(try await reading.next() == nil)
        #expect(try await reading.next() == nil)
    }

    @Test func aLargeContentComesWholeAndInOrder() async throws {
        let piece = Data((0..<251).map { UInt8($0) })
        let response = try await stream(.repeating(piece, times: 40_000))
        #expect(response.body.length == 10_040_000)
        var received = Data()
        for try await chunk in response.body { received += chunk }
        #expect(received == Data(repeatElement(piece, count: 40_000).joined()))
    }

    @Test func aStreamIsReadOnce() async throws {
        let response = try await stream(StubAnswer.status(200, body: "once"))
        #expect(!response.body.isRestartable)
        #expect(try await content(of: response) == "once")
        #expect(try await failure { try await content(of: response) }.code == .bodyNotReplayable)
    }

    @Test func droppingTheResponseEndsTheTransfer() async throws {
        var response: HTTPResponse? = try await stream(Self.endless)
        #expect(response?.status == 200)
        response = nil
        await server.closedConnections(1)
    }

    @Test func droppingTheIteratorAndTheResponseEndsTheTransfer() async throws {
        do {
            let response = try await stream(Self.endless)
            for try await chunk in response.body {
                #expect(chunk == Data("first"))
                break
            }
        }
        await server.closedConnections(1)
    }

    @Test func discardingTheBodyEndsTheTransfer() async throws {
        let response = try await stream(Self.endless)
        response.body.discard()
        await server.closedConnections(1)
        #expect(try await failure { try await content(of: response) }.code == .bodyNotReplayable)
    }

    @Test func discardingEndsAReadingThatWaits() async throws {
        let response = try await stream(Self.endless)
        let (progress, continuation) = AsyncStream.makeStream(of: Data.self)
        let reading = Task { for try await chunk in response.body { continuation.yield(chunk) } }
        for await _ in progress { break }
        response.body.discard()
        #expect(try await failure { try await reading.value }.code == .bodyNotReplayable)
        await server.closedConnections(1)
    }

    @Test func cancellingTheReaderEndsItAndTheTransferAtOnce() async throws {
        let response = try await stream(Self.endless)
        let (progress, continuation) = AsyncStream.makeStream(of: Data.self)
        let reading = Task { for try await chunk in response.body { continuation.yield(chunk) } }
        for await _ in progress { break }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await server.closedConnections(1)
    }

    @Test func aReaderThatIsCancelledAlreadyGetsNothing() async throws {
        let response = try await stream(StubAnswer.status(200, body: "content"))
        let gate = Gate()
        let reading = Task {
            await gate.opened()
            return try await content(of: response)
        }
        reading.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test func cancellingTheTaskThatSentDoesNotEndTheStream() async throws {
        let gate = Gate()
        server.enqueue(StubAnswer(steps: [Self.head, .run { await gate.opened() }, .send("2\r\nok\r\n0\r\n\r\n")]))
        let sending = Task { try await transport.send(makeRequest(server, responseBody: .streamed)) }
        let response = try await sending.value
        sending.cancel()
        gate.open()
        #expect(try await content(of: response) == "ok")
    }

    @Test func collectingOverALimitEndsTheTransfer() async throws {
        let response = try await stream(Self.kilobytes(1000))
        await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 1000) }
        await server.closedConnections(1)
    }

    @Test func downloadProgressTellsWhatHasCome() async throws {
        for mode in [ResponseBodyMode.buffered, .streamed] {
            let notes = Notes<TransferProgress>()
            server.enqueue(.status(200, body: String(repeating: "x", count: 100_000)))
            var request = try makeRequest(server, responseBody: mode)
            request.context.downloadProgress = { notes.add($0) }
            _ = try await content(of: transport.send(request))
            #expect(notes.all.last == TransferProgress(completed: 100_000, total: 100_000))
            #expect(notes.all.map(\.completed) == notes.all.map(\.completed).sorted())
        }
    }

    #if canImport(FoundationNetworking)
    @Test func onLinuxAStreamThatRunsTooFarAheadOfItsReaderFails() async throws {
        let transport = URLSessionTransport(timeouts: Timeouts(idle: nil), streamBuffer: 100_000)
        let response = try await stream(Self.kilobytes(1000), transport)
        // Nobody reads until the transfer has been abandoned.
        await server.closedConnections(1)
        var count = 0
        let error = try await failure { for try await chunk in response.body { count += chunk.count } }
        #expect(error.code == .readerTooSlow)
        #expect(error.message.contains("CurlTransport"))
        #expect((1...100_000).contains(count))
    }

    @Test func onLinuxOneChunkLargerThanTheBufferIsStillDelivered() async throws {
        let transport = URLSessionTransport(timeouts: Timeouts(idle: nil), streamBuffer: 10)
        let body = String(repeating: "x", count: 5000)
        server.enqueue(.status(302, headers: [.location: "/"], body: body))
        let response = try await transport.send(makeRequest(server, responseBody: .streamed))
        #expect(try await content(of: response) == body)
    }
    #endif
}
