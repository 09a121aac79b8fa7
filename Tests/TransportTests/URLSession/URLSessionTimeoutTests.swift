import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(Glibc)
import Glibc

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif
#endif

@Suite(.againstHanging) struct URLSessionTimeoutTests {
    let server: MockServer
    let clock = ManualClock()
    let transport: URLSessionTransport

    init() throws {
        server = try MockServer()
        transport = URLSessionTransport(timeouts: Timeouts(idle: nil), time: .manual(clock))
    }

    private static let head = MockServer.Step.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    private static let chunk = MockServer.Step.send("1\r\nx\r\n")

    /// A request whose progress the test can await, chunk by chunk.
    private func watched(
        _ timeouts: Timeouts,
        _ mode: ResponseBodyMode = .buffered
    ) throws -> (
        HTTPRequest, AsyncStream<Int64>.Iterator
    ) {
        let (progress, continuation) = AsyncStream.makeStream(of: Int64.self)
        var request = try makeRequest(server, responseBody: mode, timeouts: timeouts)
        request.context.downloadProgress = { continuation.yield($0.completed) }
        return (request, progress.makeAsyncIterator())
    }

    private func begin(_ request: HTTPRequest) -> Task<HTTPResponse, any Error> {
        Task { [transport] in try await transport.send(request) }
    }

    private func timedOut(_ call: Task<HTTPResponse, any Error>, _ name: String) async throws {
        let error = try await failure { try await call.value }
        #expect(error.code == .timedOut)
        #expect(error.message.contains("timeouts.\(name)"))
        await clock.noSleepers()
    }

    @Test(arguments: [
        ("connect", Timeouts(connect: .milliseconds(500), idle: nil)),
        ("idle", Timeouts(idle: .milliseconds(500))),
        ("total", Timeouts(idle: nil, total: .milliseconds(500))),
        ("connect", Timeouts(connect: .milliseconds(500), idle: .seconds(60), total: .seconds(60))),
    ])
    func aServerThatNeverAnswersIsGivenUpAfterEachLimitOfAnyLength(name: String, timeouts: Timeouts) async throws {
        server.enqueue(.neverAnswer)
        let call = begin(try makeRequest(server, timeouts: timeouts))
        await server.requests(atLeast: 1)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(499))
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .milliseconds(1))
        try await timedOut(call, name)
        await server.closedConnections(1)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)]) func aLimitThatHasPassedAlreadyEndsTheCall(
        limit: Duration
    ) async throws {
        server.on(.get, "/", .neverAnswer)
        for timeouts in [Timeouts(connect: limit), Timeouts(idle: limit), Timeouts(total: limit)] {
            #expect(
                try await failure { try await begin(makeRequest(server, timeouts: timeouts)).value }.code == .timedOut
            )
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(2_000_000_000)])
    func limitsBeyondAllTimeAreNone(limit: Duration) async throws {
        server.enqueue(.status(200, body: "ok"))
        let timeouts = Timeouts(connect: limit, idle: limit, total: limit)
        #expect(try await transport.send(makeRequest(server, timeouts: timeouts)).status == 200)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func theRequestsLimitsReplaceTheTransports() async throws {
        let transport = URLSessionTransport(
            timeouts: Timeouts(idle: .seconds(1), total: .seconds(1)),
            time: .manual(clock)
        )
        server.on(.get, "/", .neverAnswer)
        let short = Task { try await transport.send(makeRequest(server)) }
        let long = Task {
            try await transport.send(makeRequest(server, timeouts: Timeouts(idle: nil, total: .seconds(5))))
        }
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        #expect(try await failure { try await short.value }.code == .timedOut)
        // The other call also checks the time, and sleeps again.
        await clock.sleepers(1)
        clock.advance(by: .seconds(4))
        #expect(try await failure { try await long.value }.code == .timedOut)
    }

    @Test func everyByteBeginsTheIdleLimitAnew() async throws {
        let gates = [Gate(), Gate()]
        server.enqueue(
            StubAnswer(steps: [
                Self.head, Self.chunk, .run { await gates[0].opened() }, Self.chunk, .run { await gates[1].opened() },
            ])
        )
        var (request, progress) = try watched(Timeouts(idle: .seconds(1)))
        let call = begin(request)
        _ = await progress.next()
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(900))
        gates[0].open()
        #expect(await progress.next() == 2)
        clock.advance(by: .milliseconds(900))
        // The call woke at the old limit, and sleeps until the new one.
        await clock.sleepers(1)
        #expect(clock.nextDeadline?.elapsed == .milliseconds(1900))
        clock.advance(by: .milliseconds(100))
        try await timedOut(call, "idle")
        gates[1].open()
    }

    @Test func theConnectLimitEndsWithTheFirstSignOfLife() async throws {
        let gate = Gate()
        server.enqueue(StubAnswer(steps: [Self.head, Self.chunk, .run { await gate.opened() }, .send("0\r\n\r\n")]))
        var (request, progress) = try watched(Timeouts(connect: .seconds(1), idle: nil, total: .seconds(200)))
        let call = begin(request)
        _ = await progress.next()
        await clock.sleepers(1)
        clock.advance(by: .seconds(100))
        gate.open()
        #expect(try await call.value.body.length == 1)
    }

    @Test func theTotalLimitHoldsWhileBytesFlow() async throws {
        server.enqueue(StubAnswer(steps: [Self.head, Self.chunk, .send("1\r\ny\r\n"), .waitForever]))
        var (request, progress) = try watched(Timeouts(idle: .seconds(60), total: .seconds(3)))
        let call = begin(request)
        _ = await progress.next()
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        try await timedOut(call, "total")
    }

    @Test func theTotalLimitHoldsForTheReadingOfAStream() async throws {
        server.enqueue(StubAnswer(steps: [Self.head, Self.chunk, .waitForever]))
        let timeouts = Timeouts(idle: nil, total: .seconds(3))
        let response = try await transport.send(makeRequest(server, responseBody: .streamed, timeouts: timeouts))
        var reading = response.body.makeAsyncIterator()
        #expect(try await reading.next() == Data("x"))
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        #expect(try await failure { try await reading.next() }.code == .timedOut)
        #expect(try await reading.next() == nil)
        await server.closedConnections(1)
    }

    @Test func idleDoesNotCountWhileBytesWaitForTheirReader() async throws {
        let gate = Gate()
        server.enqueue(
            StubAnswer(steps: [Self.head, Self.chunk, .run { await gate.opened() }, Self.chunk, .send("0\r\n\r\n")])
        )
        var (request, progress) = try watched(Timeouts(idle: .seconds(1)), .streamed)
        let response = try await transport.send(request)
        #expect(await progress.next() == 1)
        for _ in 0..<5 {
            await clock.sleepers(1)
            clock.advance(by: .seconds(1))
        }
        await clock.sleepers(1)
        gate.open()
        #expect(try await content(of: response) == "xx")
        await clock.noSleepers()
    }

    @Test func aSilentServerEndsTheReadingOfAStream() async throws {
        server.enqueue(StubAnswer(steps: [Self.head, Self.chunk, .waitForever]))
        let timeouts = Timeouts(idle: .seconds(1))
        let response = try await transport.send(makeRequest(server, responseBody: .streamed, timeouts: timeouts))
        var reading = response.body.makeAsyncIterator()
        #expect(try await reading.next() == Data("x"))
        let rest = Task { [reading] in
            var reading = reading
            return try await reading.next()
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await failure { try await rest.value }.code == .timedOut)
    }

    @Test func aStreamThatIsSentCountsAsSignsOfLife() async throws {
        server.enqueue(.status(200, body: "ok"))
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let timeouts = Timeouts(connect: .seconds(1), idle: .seconds(60))
        let call = begin(try makeRequest(server, "/", .post, body: .oneShot(stream), timeouts: timeouts))
        for _ in 0..<3 {
            await clock.sleepers(1)
            clock.advance(by: .seconds(10))
            continuation.yield(Data("x"))
        }
        continuation.finish()
        #expect(try await call.value.status == 200)
        #expect(await server.requests(atLeast: 1)[0].text == "xxx")
    }

    @Test func aRequestStreamThatFallsSilentEndsTheCall() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let call = begin(
            try makeRequest(server, "/", .post, body: .oneShot(stream), timeouts: Timeouts(idle: .seconds(1)))
        )
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        try await timedOut(call, "idle")
        continuation.finish()
        #expect(server.requests.isEmpty)
    }

    @Test func timeSpentBeforeTheTransportCountsAndTheMessageNamesTheWholeLimit() {
        var timeouts = Timeouts(idle: nil, total: .seconds(5))
        timeouts.spent = .seconds(4)
        var timeLimits = TimeLimits(timeouts)
        timeLimits.start(at: .zero)
        guard case .passed(let limit, let length)? = timeLimits.check(at: .seconds(1)) else {
            Issue.record("The limit does not hold.")
            return
        }
        #expect(limit == .total && length == .seconds(5))
    }

    @Test func preparationOfTheContentIsNoSignOfAConnection() {
        var timeLimits = TimeLimits(Timeouts(connect: .seconds(3), idle: nil))
        timeLimits.note(at: .seconds(1), ofConnection: false)
        timeLimits.start(at: .seconds(2))
        timeLimits.note(at: .seconds(3), ofConnection: false)
        guard case .passed(let limit, let length)? = timeLimits.check(at: .seconds(5)) else {
            Issue.record("The limit does not hold.")
            return
        }
        #expect(limit == .connect && length == .seconds(3))
        timeLimits.note(at: .seconds(4))
        #expect(timeLimits.check(at: .seconds(5)) == nil)
    }

    #if os(Linux)
    /// Spooling a stream to a file says nothing about the host.
    @Test func spooledUploadToAHostThatDoesNotAnswerEndsAtTheConnectLimit() async throws {
        let (silent, connected) = (try SilentServer(), Gate())
        Thread.detachNewThread { [descriptor = silent.descriptor] in
            let client = accept(descriptor, nil, nil)
            connected.open()
            // Until the call ends, nobody answers the TLS handshake.
            var byte: UInt8 = 0
            while read(client, &byte, 1) > 0 {}
            close(client)
        }
        let url = try #require(URL(string: "https://127.0.0.1:\(silent.port)/"))
        let body = HTTPBody.oneShot(
            AsyncStream {
                $0.yield(Data("x")); $0.finish()
            }
        )
        var request = HTTPRequest(method: .put, url: url, body: body)
        request.context.timeouts = Timeouts(connect: .seconds(3), idle: nil)
        let call = begin(request)
        await connected.opened()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [clock] in await clock.sleepers(1) }
            group.addTask { _ = await call.result }
            await group.next()
            if clock.pendingSleeps == 0 { call.cancel() }
            clock.advance(by: .seconds(3))
            group.cancelAll()
        }
        let error = try await failure { try await call.value }
        #expect(error.code == .timedOut)
        #expect(error.message.contains("timeouts.connect"), "\(error)")
    }
    #endif

    @Test func noTimerIsLeftWhenACallHasEnded() async throws {
        server.on(.get, "/", .status(200, body: "ok"))
        let timeouts = Timeouts(connect: .seconds(1), idle: .seconds(1), total: .seconds(1))
        for mode in [ResponseBodyMode.buffered, .streamed] {
            _ = try await content(of: transport.send(makeRequest(server, responseBody: mode, timeouts: timeouts)))
        }
        await clock.noSleepers()
    }
}
