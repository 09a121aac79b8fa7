import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

/// Events with the type of their stream, in one chunk or more.
func eventStream(_ chunks: String..., thenFailing error: (any Error)? = nil, every pause: Duration? = nil) -> StubAnswer
{
    .stream(
        chunks.map { Data($0.utf8) },
        every: pause,
        thenFailing: error,
        headers: [.contentType: "text/event-stream"]
    )
}

@Suite(.againstHanging) struct ServerSentEventsTests {
    let clock = ManualClock()
    let stub: StubTransport

    init() { stub = StubTransport(time: .manual(clock)) }

    func events(
        after id: String? = nil,
        upTo limit: Int = 1 << 20,
        idleLimit: Duration? = .seconds(60),
        reconnection: Reconnection? = Reconnection(),
        _ interceptors: [any Interceptor] = []
    ) -> ServerSentEvents {
        makeClient(stub, interceptors).events(
            "/stream",
            after: id,
            upTo: limit,
            idleLimit: idleLimit,
            reconnection: reconnection,
            time: .manual(clock)
        )
    }

    /// All events, until the end of the stream, with the waits at no cost.
    func all(_ events: ServerSentEvents) async throws -> [ServerSentEvent] {
        try await clock.run {
            var all: [ServerSentEvent] = []
            for try await event in events { all.append(event) }
            return all
        }
    }

    func lost(_ code: HTTPErrorCode = .connectionLost) -> TransportError { TransportError(code, "Lost.") }

    @Test func eventsArriveWithTypeDataAndID() async throws {
        stub.enqueue(eventStream("event: tick\nid: 7\nda", "ta: 1\n\ndata: 2\n\n"), .status(204))
        let expected = [ServerSentEvent(type: "tick", data: "1", id: "7"), ServerSentEvent(data: "2", id: "7")]
        #expect(try await all(events()) == expected)
    }

    @Test func theRequestFollowsTheStandard() async throws {
        stub.enqueue(.status(204))
        #expect(try await all(events()).isEmpty)
        let request = try #require(stub.requests.first)
        #expect(request.headers[.accept] == "text/event-stream")
        #expect(request.headers[.cacheControl] == "no-cache, no-store")
        #expect(request.headers["Last-Event-ID"] == nil)
        #expect(request.context.responseBody == .streamed)
        #expect(!request.context.callShape.mayStore && !request.context.callShape.holdsPermitUntilEnd)
        #expect(request.context.timeouts?.idle == .seconds(60))
    }

    @Test func theChainsDefaultAcceptDoesNotReplaceTheStreams() async throws {
        stub.enqueue(.status(204))
        let accept = AnyInterceptor.intercept { request, next in
            request.addDefaults([.accept: "application/json"])
            return try await next(request)
        }
        _ = try await all(events([accept]))
        #expect(stub.requests.first?.headers[.accept] == "text/event-stream")
    }

    @Test func nothingIsSentBeforeTheFirstEventIsAskedFor() async throws {
        stub.enqueue(eventStream("data: 1\n\n"))
        var iterator = events().makeAsyncIterator()
        #expect(stub.requests.isEmpty)
        #expect(try await iterator.next()?.data == "1")
    }

    @Test func eachConnectionRunsTheChain() async throws {
        stub.enqueue(eventStream("data: a\n\n"), eventStream("data: b\n\n"), .status(204))
        let count = Tally()
        let token = AnyInterceptor.intercept { request, next in
            count.count()
            request.headers[.authorization] = "Bearer \(count.value)"
            return try await next(request)
        }
        _ = try await all(events([token]))
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer 1", "Bearer 2", "Bearer 3"])
    }

    @Test func nothingFollowsAnError() async throws {
        stub.enqueue(.status(404))
        var iterator = events().makeAsyncIterator()
        await #expect(throws: ResponseDecodingError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        #expect(stub.requests.count == 1)
    }

    @Test func anErrorClosesTheConnection() async throws {
        stub.enqueue(eventStream("data: 123456\n\n", "data: 1\n\n"))
        var iterator = events(upTo: 10).makeAsyncIterator()
        await #expect(throws: TransportError.self) { try await iterator.next() }
        #expect(stub.openBodies == 0)
        #expect(try await iterator.next() == nil)
    }

    /// RFC 9110 §15: a client treats a success that it doesn't know as a 200.
    @Test(arguments: [200, 201, 202, 203, 210, 299] as [HTTPResponse.Status])
    func aSuccessIsAStream(status: HTTPResponse.Status) async throws {
        stub.enqueue(
            .status(status, headers: [.contentType: "text/event-stream"], body: "data: x\n\n"),
            .status(204)
        )
        #expect(try await all(events()).map(\.data) == ["x"])
    }

    @Test(arguments: [205, 206, 301, 404, 410, 500, 503] as [HTTPResponse.Status])
    func anyOtherStatusIsAnError(status: HTTPResponse.Status) async throws {
        stub.enqueue(.status(status, headers: [.contentType: "text/event-stream"], body: "data: x\n\n"))
        let failure = await #expect(throws: ResponseDecodingError.self) { try await all(events()) }
        #expect(failure?.code == .unacceptedStatus)
        #expect(failure?.status == status)
        #expect(stub.openBodies == 0)
    }

    @Test(arguments: ["text/plain", "text/event-stream-2", "application/json", "", "x\u{1B}"])
    func anotherTypeIsAnError(type: String) async throws {
        stub.enqueue(.stream([Data("data: x\n\n".utf8)], headers: type.isEmpty ? [:] : [.contentType: type]))
        let failure = await #expect(throws: ResponseDecodingError.self) { try await all(events()) }
        #expect(failure?.code == .unexpectedMediaType)
        #expect(failure?.message.contains("text/event-stream") == true)
        #expect(failure?.message.contains("\u{1B}") == false)
        #expect(stub.openBodies == 0)
    }

    @Test(arguments: [
        "text/event-stream;charset=UTF-8", "Text/Event-Stream", "text/event-stream ; x=y", "text/event-stream;",
    ])
    func theTypeMayHaveParameters(type: String) async throws {
        stub.enqueue(.stream([Data("data: x\n\n".utf8)], headers: [.contentType: type]), .status(204))
        #expect(try await all(events()).map(\.data) == ["x"])
    }

    @Test func aStreamBeyondTheLimitIsAnErrorAboutItsRequest() async throws {
        stub.enqueue(eventStream("data: 123456\n\n"))
        let error = await #expect(throws: TransportError.self) { try await all(events(upTo: 10)) }
        #expect(error?.code == .bodyTooLarge)
        #expect(error?.request?.description.contains("/v1/stream") == true)
        #expect(stub.openBodies == 0)
        #expect(stub.requests.count == 1)
    }

    @Test func leavingTheLoopClosesTheConnection() async throws {
        stub.enqueue(eventStream("data: a\n\n", "data: b\n\n"))
        for try await event in events() {
            #expect(event.data == "a")
            #expect(stub.openBodies == 1)
            break
        }
        #expect(stub.openBodies == 0)
    }

    @Test func cancellingEndsAWaitForAnEventAtOnce() async throws {
        let reads = Tally()
        let (began, continuation) = AsyncStream<Void>.makeStream()
        let discarded = Tally()
        stub.enqueue(
            .answer { request in
                let body = HTTPBody.oneShot(NoChunks(reads: reads, began: continuation)) { discarded.count() }
                return HTTPResponse(
                    status: 200,
                    headers: [.contentType: "text/event-stream"],
                    body: body,
                    url: request.url
                )
            }
        )
        let events = events()
        let task = Task { for try await _ in events {} }
        for await _ in began { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(discarded.value == 1)
        #expect(stub.openBodies == 0)
        #expect(stub.requests.count == 1)
    }

    @Test func noEventFollowsACancellation() async throws {
        stub.enqueue(eventStream("data: a\n\ndata: b\n\n"))
        let events = events()
        let task = Task {
            var iterator = events.makeAsyncIterator()
            let first = try await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await iterator.next() }
            return first?.data
        }
        #expect(try await task.value == "a")
        #expect(stub.openBodies == 0)
    }

    @Test func eventsAreReadAsTheyAreAskedFor() async throws {
        let reads = Tally()
        let chunks = (1...5).map { "data: \($0)\n\n" }
        stub.enqueue(
            .answer { request in
                let body = HTTPBody.oneShot(Chunks(chunks, reads: reads))
                return HTTPResponse(
                    status: 200,
                    headers: [.contentType: "text/event-stream"],
                    body: body,
                    url: request.url
                )
            }
        )
        var iterator = events().makeAsyncIterator()
        for count in 1...3 {
            #expect(try await iterator.next()?.data == "\(count)")
            #expect(reads.value == count)
        }
    }

    @Test func theTotalLimitOfACallDoesNotEndAConnection() async throws {
        stub.enqueue(eventStream("", "data: a\n\n", every: .seconds(20)), .status(204))
        let context = HTTPContext.with(\.timeouts, Timeouts(connect: .seconds(5), total: .seconds(30)))
        let events = makeClient(stub).events("/stream", context: context, time: .manual(clock))
        #expect(try await all(events).map(\.data) == ["a"])
        #expect(stub.requests.count == 2)
        #expect(stub.requests.first?.context.timeouts == Timeouts(connect: .seconds(5), idle: .seconds(60)))
    }

    @Test func anErrorPageThatMayStayOpenIsNotRead() async throws {
        let reads = Tally()
        for _ in 0..<2 {
            stub.enqueue(
                .answer { request in
                    HTTPResponse(
                        status: 503,
                        headers: [.contentType: "Text/Event-Stream; charset=utf-8"],
                        body: .oneShot(Chunks([":\n"], reads: reads)),
                        url: request.url
                    )
                }
            )
        }
        let failure = await #expect(throws: ResponseDecodingError.self) { try await all(events(idleLimit: nil)) }
        #expect(failure?.status == 503)
        let lines = makeClient(stub).lines("/stream", as: Int.self)
        await #expect(throws: ResponseDecodingError.self) { for try await _ in lines {} }
        #expect(reads.value == 0)
        #expect(stub.openBodies == 0)
    }

    @MainActor
    @Test func aFloodOfCommentsDoesNotHoldTheCallersActor() async throws {
        let flood = Flood(":\n", then: "data: a\n\n")
        stub.enqueue(
            .answer { request in
                HTTPResponse(
                    status: 200,
                    headers: [.contentType: "text/event-stream"],
                    body: .oneShot(flood),
                    url: request.url
                )
            }
        )
        var iterator = events().makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        #expect(!flood.isUsedUp)
    }
}
