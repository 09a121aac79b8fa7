import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct StubTransportWireTests {
    let clock = ManualClock()
    let stub: StubTransport

    init() { stub = StubTransport(time: .manual(clock)) }

    @Test func anInvalidRequestIsRefusedAndNotRecorded() async throws {
        stub.on(nil, "**", .status(200))
        var bad = try stubRequest()
        bad.headers["X-Bad"] = "a\r\nb: c"
        let error = await #expect(throws: TransportError.self) { try await stub.send(bad) }
        #expect(error?.code == .invalidRequest)
        #expect(stub.requests.isEmpty)
    }

    @Test func aOneShotBodySentTwiceFails() async throws {
        stub.on(nil, "**", .status(200))
        let chunks = AsyncStream {
            $0.yield(Data("once".utf8)); $0.finish()
        }
        let upload = try stubRequest("/upload", .post, body: .oneShot(chunks))
        #expect(try await stub.send(upload).status == 200)
        let error = await #expect(throws: TransportError.self) { try await stub.send(upload) }
        #expect(error?.code == .bodyNotReplayable)
        #expect(error?.request?.url == "https://api.example.com/upload")
        #expect(stub.requests.count == 1)
    }

    @Test func aRecordedBodyCanBeReadAgainAndAgain() async throws {
        stub.on(nil, "**", .status(200))
        let chunks = AsyncStream {
            $0.yield(Data("on".utf8)); $0.yield(Data("ce".utf8)); $0.finish()
        }
        _ = try await stub.send(stubRequest("/", .post, body: .oneShot(chunks)))
        let recorded = try #require(stub.requests.first)
        #expect(recorded.body.isRestartable)
        for _ in 0..<2 { #expect(try await recorded.body.collect(upTo: 10) == Data("once".utf8)) }
    }

    @Test func aRecordedStreamIsBoundedInSize() async throws {
        stub.on(nil, "**", .status(200))
        let chunk = Data(count: 1 << 20)
        let body = HTTPBody.restartable {
            AsyncStream { continuation in
                for _ in 0..<20 { continuation.yield(chunk) }
                continuation.finish()
            }
        }
        _ = try await stub.send(stubRequest("/", .post, body: body))
        #expect(stub.requests.first?.body.length == 16 << 20)
    }

    @Test func aStreamThatBreaksItsAnnouncedLengthFails() async throws {
        stub.on(nil, "**", .status(200))
        let chunks = AsyncStream {
            $0.yield(Data("short".utf8)); $0.finish()
        }
        let error = await #expect(throws: TransportError.self) {
            try await stub.send(stubRequest("/", .post, body: .oneShot(chunks, length: 6)))
        }
        #expect(error?.code == .bodyLengthMismatch)
    }

    @Test func aBufferedAnswerIsHeldToTheLimit() async throws {
        stub.on(nil, "**", .data(Data(count: 10)))
        var limited = try stubRequest()
        limited.context.responseBody = .buffered(upTo: 10)
        #expect(try await stub.send(limited).body.data?.count == 10)
        limited.context.responseBody = .buffered(upTo: 9)
        let error = await #expect(throws: TransportError.self) { try await stub.send(limited) }
        #expect(error?.code == .bodyTooLarge)
        #expect(error?.request?.url == "https://api.example.com/")
    }

    @Test func chunksAreBufferedUnlessStreamed() async throws {
        stub.on(nil, "**", .stream([Data("a".utf8), Data(), Data("b".utf8)]))
        #expect(try await stub.send(stubRequest()).body.data == Data("ab".utf8))
        var streamed = try stubRequest()
        streamed.context.responseBody = .streamed
        let response = try await stub.send(streamed)
        #expect(response.body.data == nil)
        #expect(!response.body.isRestartable)
        var chunks: [String] = []
        for try await chunk in response.body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        #expect(chunks == ["a", "b"])
        let again = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 9) }
        #expect(again?.code == .bodyNotReplayable)
    }

    @Test func streamedBytesAreAOneShotOfKnownLength() async throws {
        stub.on(nil, "**", .json("{}"))
        var streamed = try stubRequest()
        streamed.context.responseBody = .streamed
        let body = try await stub.send(streamed).body
        #expect(body.length == 2)
        #expect(!body.isRestartable)
        #expect(try await body.collect(upTo: 2) == Data("{}".utf8))
    }

    @Test func openBodiesCountsWhatWasNeitherReadNorDiscarded() async throws {
        stub.on(nil, "**", .json("{}"))
        var streamed = try stubRequest()
        streamed.context.responseBody = .streamed
        let first = try await stub.send(streamed)
        let second = try await stub.send(streamed)
        #expect(stub.openBodies == 2)
        _ = try await first.body.collect(upTo: 2)
        #expect(stub.openBodies == 1)
        second.body.discard()
        second.body.discard()
        #expect(stub.openBodies == 0)
        let third = try await stub.send(streamed)
        await #expect(throws: TransportError.self) { try await third.body.collect(upTo: 1) }
        third.body.discard()
        #expect(stub.openBodies == 0)
    }

    @Test func aStreamCanFailAfterSomeChunks() async throws {
        stub.on(nil, "**", .stream([Data("a".utf8)], thenFailing: Offline()))
        await #expect(throws: Offline()) { try await stub.send(stubRequest()) }
        var streamed = try stubRequest()
        streamed.context.responseBody = .streamed
        var chunks = try await stub.send(streamed).body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("a".utf8))
        await #expect(throws: Offline()) { try await chunks.next() }
        #expect(stub.openBodies == 0)
    }

    /// A real transport closes the connection of a cancelled reader.
    @Test func streamOfACancelledReaderIsDiscarded() async throws {
        let (source, feed) = AsyncStream.makeStream(of: Data.self)
        feed.yield(Data("a".utf8))
        let ends = Notes<Void>()
        stub.on(nil, "**", .status(200, body: .oneShot(source) { ends.add(()) }))
        var streamed = try stubRequest()
        streamed.context.responseBody = .streamed
        let body = try await stub.send(streamed).body
        let reading = Task {
            for try await _ in body { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(ends.all.count == 1)
        #expect(stub.openBodies == 0)
    }

    @Test func progressIsReportedBothWays() async throws {
        let (reports, continuation) = AsyncStream<String>.makeStream()
        stub.on(nil, "**", .data(Data(count: 5)))
        var upload = try stubRequest("/", .post, body: "abc")
        upload.context.uploadProgress = { continuation.yield("up \($0.completed)/\($0.total ?? -1)") }
        upload.context.downloadProgress = { continuation.yield("down \($0.completed)/\($0.total ?? -1)") }
        _ = try await stub.send(upload)
        continuation.finish()
        #expect(await reports.reduce(into: []) { $0.append($1) } == ["up 3/3", "down 5/5"])
    }
}

@Suite(.againstHanging) struct StubTransportTimeTests {
    let clock = ManualClock()
    let stub: StubTransport

    init() { stub = StubTransport(time: .manual(clock)) }

    @Test func aDelayPassesOnTheInjectedClock() async throws {
        stub.enqueue(.status(201).delayed(by: .seconds(3600)).delayed(by: .seconds(1)))
        async let response = stub.send(stubRequest())
        await clock.sleepers(1)
        #expect(stub.requests.count == 1)
        #expect(clock.nextDeadline?.elapsed == .seconds(3601))
        clock.advance(by: .seconds(3601))
        #expect(try await response.status == 201)
    }

    @Test func cancellationEndsADelayAtOnce() async throws {
        let stub = stub
        stub.enqueue(.status(200).delayed(by: .seconds(3600)))
        let task = Task { [request = try stubRequest()] in try await stub.send(request) }
        await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.pendingSleeps == 0)
    }

    @Test func aCancelledCallNeverArrives() async throws {
        let stub = stub
        stub.enqueue(.status(200))
        let request = try stubRequest()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await stub.send(request)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.requests.isEmpty)
    }

    @Test func chunksComeOneByOneOnTheClock() async throws {
        stub.on(nil, "**", .stream([Data("a".utf8), Data("b".utf8)], every: .seconds(5)))
        var streamed = try stubRequest()
        streamed.context.responseBody = .streamed
        let response = try await stub.send(streamed)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("a".utf8))
        let clock = clock
        async let advanced: Void = {
            await clock.sleepers(1)
            clock.advance(by: .seconds(5))
        }()
        #expect(try await chunks.next() == Data("b".utf8))
        await advanced
        #expect(try await chunks.next() == nil)
        #expect(clock.now.elapsed == .seconds(5))
    }

    @Test func cancellationEndsAStreamAtOnce() async throws {
        let stub = stub
        stub.on(nil, "**", .stream([Data("a".utf8), Data("b".utf8)], every: .seconds(3600)))
        var streamed = try stubRequest()
        streamed.context.responseBody = .streamed
        let response = try await stub.send(streamed)
        let task = Task { try await response.body.collect(upTo: 10) }
        await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.openBodies == 0)
    }

    @Test func answerThatNeverComesEndsWithTheTimeLimitOrTheCall() async throws {
        let stub = stub
        stub.on(nil, "**", .neverAnswer)
        var limited = try stubRequest()
        limited.context.timeouts = Timeouts(idle: .seconds(2))
        let timedOut = Task { [limited] in try await stub.send(limited) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: TransportError.self) { try await timedOut.value }
        #expect(error?.code == .timedOut)
        let cancelled = Task { [request = try stubRequest()] in try await stub.send(request) }
        await stub.requests(atLeast: 2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func chosenAnswersDelayPassesOnTheClock() async throws {
        stub.on(nil, "**") { _ in .status(201).delayed(by: .seconds(2)) }
        async let response = stub.send(stubRequest())
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        #expect(try await response.status == 201)
    }

    @Test(arguments: [Timeouts(idle: .seconds(2)), Timeouts(total: .seconds(2))])
    func aRequestsTimeLimitEndsALongerWait(timeouts: Timeouts) async throws {
        stub.enqueue(.status(200).delayed(by: .seconds(3)))
        var limited = try stubRequest()
        limited.context.timeouts = timeouts
        let task = Task { [stub, limited] in try await stub.send(limited) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test func receivedWaitsForRequests() async throws {
        let stub = stub
        stub.on(nil, "**", .status(200))
        async let arrived = stub.requests(atLeast: 100)
        let request = try stubRequest()
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { _ = try await stub.send(request) } }
            try await group.waitForAll()
        }
        #expect(await arrived.count >= 100)
        #expect(await stub.requests(atLeast: 100).count == 100)
    }

    @Test func receivedEndsWhenItsTaskIsCancelled() async throws {
        let stub = stub
        let task = Task { await stub.requests(atLeast: 1) }
        task.cancel()
        _ = await task.value
    }
}
