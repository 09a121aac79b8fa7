import Foundation
import Testing
import Transport
import TransportTesting

private func request(
    _ path: String = "/",
    _ method: HTTPRequest.Method = .get,
    body: HTTPBody = .empty
) throws -> HTTPRequest {
    HTTPRequest(method: method, url: try #require(URL(string: "https://api.example.com" + path)), body: body)
}

private func text(_ response: HTTPResponse) async throws -> String {
    String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
}

private struct Offline: Error, Equatable {}

@Suite struct StubTransportTests {
    let stub = StubTransport()

    @Test func queuedAnswersComeInOrder() async throws {
        stub.enqueue(.json(#"{"a":1}"#), .status(503))
        stub.enqueue(.failure(Offline()))
        let first = try await stub.send(request())
        #expect(first.status == 200)
        #expect(first.headerFields[.contentType] == "application/json")
        #expect(try await text(first) == #"{"a":1}"#)
        #expect(try await stub.send(request()).status == 503)
        await #expect(throws: Offline()) { try await stub.send(request()) }
        try stub.verifyAllUsed()
    }

    @Test func aStubIsStickyUnlessTimesLimitsIt() async throws {
        stub.on(.get, "/a", .status(200))
        stub.on(.get, "/b", .status(200), times: 2)
        for _ in 0..<5 { #expect(try await stub.send(request("/a")).status == 200) }
        for _ in 0..<2 { #expect(try await stub.send(request("/b")).status == 200) }
        await #expect(throws: TransportError.self) { try await stub.send(request("/b")) }
    }

    @Test func limitedStubsComeFirstAndTheOldestOfThemFirst() async throws {
        stub.on(.get, "/a", .status(201), times: 1)
        stub.on(.get, "/a", .status(200))
        stub.on(.get, "/a", .status(202), times: 1)
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await stub.send(request("/a")).status.code) }
        #expect(statuses == [201, 202, 200, 200])
    }

    @Test func ofStickyStubsTheNewestWins() async throws {
        stub.on(nil, "**", .status(404))
        stub.on(.get, "/a", .status(200))
        #expect(try await stub.send(request("/a")).status == 200)
        stub.on(.get, "/a", .status(500))
        #expect(try await stub.send(request("/a")).status == 500)
        #expect(try await stub.send(request("/b")).status == 404)
    }

    @Test func theQueueServesOnlyWhatNoStubTakes() async throws {
        stub.enqueue(.status(201))
        stub.on(.get, "/a", .status(200))
        #expect(try await stub.send(request("/a")).status == 200)
        #expect(try await stub.send(request("/b")).status == 201)
    }

    @Test func aPredicateSeesTheBody() async throws {
        stub.on({ $0.body.bytes == Data("yes".utf8) }, .status(200))
        stub.enqueue(.status(404))
        #expect(try await stub.send(request("/", .post, body: "yes")).status == 200)
        #expect(try await stub.send(request("/", .post, body: "no")).status == 404)
    }

    @Test func aPredicateMayUseTheStub() async throws {
        let stub = stub
        stub.on({ _ in stub.requests.count == 2 }, .status(200))
        stub.enqueue(.status(404))
        #expect(try await stub.send(request()).status == 404)
        #expect(try await stub.send(request()).status == 200)
    }

    @Test func aStubRegisteredLateStillWorks() async throws {
        await #expect(throws: TransportError.self) { try await stub.send(request("/late")) }
        stub.on(.get, "/late", .status(200))
        #expect(try await stub.send(request("/late")).status == 200)
        let gate = AsyncStream<Data>.makeStream()
        async let waiting = stub.send(request("/upload", .put, body: .oneShot(gate.stream)))
        stub.on(.put, "/upload", .status(201))
        gate.continuation.yield(Data("x".utf8))
        gate.continuation.finish()
        #expect(try await waiting.status == 201)
    }

    @Test func anUnmatchedRequestNamesItselfAndWhatWasOnOffer() async throws {
        stub.on(.get, "/users/*?token=hush", .json("{}"), times: 1)
        stub.on({ _ in false }, .status(404))
        stub.enqueue(.status(202))
        _ = try await stub.send(request())
        let error = await #expect(throws: TransportError.self) {
            try await stub.send(request("/orders?api_key=hush", .post))
        }
        #expect(error?.code == .noStub)
        let description = try #require(error?.description)
        #expect(description.contains("POST https://api.example.com/orders?api_key=<redacted>"))
        #expect(description.contains("GET /users/*?token=<redacted>"))
        #expect(description.contains("used 0 of 1 times"))
        #expect(description.contains("a predicate"))
        #expect(description.contains("empty after 1 answer"))
        #expect(description.contains("StubTransportTests.swift:"))
        #expect(!description.contains("hush"))
    }

    @Test func withoutAnyStubTheErrorSaysSo() async throws {
        let error = await #expect(throws: TransportError.self) { try await stub.send(request()) }
        #expect(error?.message.contains("no stub was registered") == true)
    }

    @Test func verifyAllUsedListsWhatWasNotUsed() async throws {
        stub.on(.get, "/used", .status(200))
        stub.on(.get, "/unused", .status(200))
        stub.on(.get, "/twice", .status(200), times: 2)
        stub.enqueue(.status(202))
        _ = try await stub.send(request("/used"))
        _ = try await stub.send(request("/twice"))
        let error = #expect(throws: TransportError.self) { try stub.verifyAllUsed() }
        #expect(error?.code == .unusedStubs)
        let message = try #require(error?.message)
        #expect(!message.contains("GET /used"))
        #expect(message.contains("GET /unused: 200 OK"))
        #expect(message.contains("used 1 of 2 times"))
        #expect(message.contains("queued: 202 Accepted"))
        #expect(message.contains("StubTransportTests.swift:"))
    }

    @Test func aClosureAnswersEverything() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: 200, body: HTTPBody(request.url.path))
        }
        let response = try await stub.send(request("/x"))
        #expect(try await text(response) == "/x")
        #expect(response.url?.path == "/x")
        try stub.verifyAllUsed()
    }

    @Test func theFallbackGetsWhatNothingTakes() async throws {
        let below = StubTransport { HTTPResponse(status: 299, body: HTTPBody($0.body.bytes ?? Data("none".utf8))) }
        let stub = StubTransport(fallback: below)
        stub.on(.get, "/a", .status(200))
        #expect(try await stub.send(request("/a")).status == 200)
        #expect(try await stub.send(request("/b")).status == 299)
        let chunks = AsyncStream {
            $0.yield(Data("once".utf8)); $0.finish()
        }
        let response = try await stub.send(request("/c", .post, body: .oneShot(chunks)))
        #expect(try await text(response) == "once")
        #expect(below.requests.count == 2)
        #expect(stub.requests.count == 3)
    }

    @Test func thousandsOfConcurrentRequestsTakeEachAnswerOnce() async throws {
        let stub = stub
        stub.on(.get, "/limited", .status(201), times: 500)
        for code in 0..<500 { stub.enqueue(.data(Data("\(code)".utf8))) }
        let request = try request("/limited")
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    let response = try await stub.send(request)
                    return response.status == 201 ? "limited" : try await text(response)
                }
            }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(answers.count { $0 == "limited" } == 500)
        #expect(Set(answers).count == 501)
        #expect(stub.requests.count == 1000)
        try stub.verifyAllUsed()
    }
}

@Suite struct StubTransportAnswerTests {
    let stub = StubTransport()

    private struct User: Codable, Equatable {
        var name = "Ada"
        var id = 42
    }

    private struct Broken: Encodable {
        func encode(to encoder: any Encoder) throws { throw Offline() }
    }

    @Test func anEncodableIsAnsweredAsJSONWithSortedKeys() async throws {
        stub.enqueue(.encodable(User()), .encodable(User(), status: 201))
        let response = try await stub.send(request())
        #expect(response.headerFields[.contentType] == "application/json")
        #expect(try await text(response) == #"{"id":42,"name":"Ada"}"#)
        #expect(try await stub.send(request()).status == 201)
    }

    @Test func anEncodableThatFailsFailsTheRequest() async throws {
        stub.enqueue(.encodable(Broken()))
        await #expect(throws: Offline()) { try await stub.send(request()) }
    }

    @Test func jsonTextIsSentAsItIs() async throws {
        stub.enqueue(.json("{broken", status: 400))
        let response = try await stub.send(request())
        #expect(response.status == 400)
        #expect(try await text(response) == "{broken")
    }

    @Test func aFileIsReadWhenItIsAnswered() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        stub.on(.get, "/file", .file(url))
        let missing = await #expect(throws: TransportError.self) { try await stub.send(request("/file")) }
        #expect(missing?.code == .unreadableFile)
        try Data(#"{"late":true}"#.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let response = try await stub.send(request("/file"))
        #expect(try await text(response) == #"{"late":true}"#)
        #expect(response.headerFields[.contentType] == "application/json")
        #expect(response.body.bytes != nil)
    }

    @Test func modifiersChangeStatusAndFields() async throws {
        let busy = StubAnswer.json("{}").with(status: 503).with(headers: [.retryAfter: "2", .contentType: "text/plain"])
        stub.enqueue(busy)
        let response = try await stub.send(request())
        #expect(response.status == 503)
        #expect(response.headerFields[.retryAfter] == "2")
        #expect(response.headerFields[values: .contentType] == ["text/plain"])
    }

    @Test func anAnswerIsMadeForEachRequest() async throws {
        stub.on(nil, "**", .answer { HTTPResponse(status: 200, body: HTTPBody($0.method.rawValue)) })
        #expect(try await text(stub.send(request())) == "GET")
        #expect(try await text(stub.send(request("/", .put))) == "PUT")
    }

    @Test func anAnswersOwnURLIsKept() async throws {
        let moved = try #require(URL(string: "https://other.example/"))
        stub.enqueue(.answer { _ in HTTPResponse(status: 200, url: moved) }, .status(200))
        #expect(try await stub.send(request("/a")).url == moved)
        #expect(try await stub.send(request("/b")).url?.path == "/b")
    }

    @Test(arguments: [HTTPResponse.Status(integerLiteral: 204), 304])
    func whatHasNoContentOnTheWireHasNoneHere(status: HTTPResponse.Status) async throws {
        stub.on(nil, "**", .json("{}", status: status))
        #expect(try await stub.send(request()).body.isEmpty)
    }

    @Test func aResponseToHEADHasNoContent() async throws {
        stub.on(nil, "**", .json("{}"))
        let response = try await stub.send(request("/", .head))
        #expect(response.body.isEmpty)
        #expect(response.headerFields[.contentType] == "application/json")
    }
}

@Suite struct StubTransportWireTests {
    let clock = ManualClock()
    let stub: StubTransport

    init() { stub = StubTransport(clock: clock) }

    @Test func anInvalidRequestIsRefusedAndNotRecorded() async throws {
        stub.on(nil, "**", .status(200))
        var bad = try request()
        bad.headerFields["X-Bad"] = "a\r\nb: c"
        let error = await #expect(throws: TransportError.self) { try await stub.send(bad) }
        #expect(error?.code == .invalidRequest)
        #expect(stub.requests.isEmpty)
    }

    @Test func aOneShotBodySentTwiceFails() async throws {
        stub.on(nil, "**", .status(200))
        let chunks = AsyncStream {
            $0.yield(Data("once".utf8)); $0.finish()
        }
        let upload = try request("/upload", .post, body: .oneShot(chunks))
        #expect(try await stub.send(upload).status == 200)
        let error = await #expect(throws: TransportError.self) { try await stub.send(upload) }
        #expect(error?.code == .bodyNotReplayable)
        #expect(error?.url == "https://api.example.com/upload")
        #expect(stub.requests.count == 1)
    }

    @Test func aRecordedBodyCanBeReadAgainAndAgain() async throws {
        stub.on(nil, "**", .status(200))
        let chunks = AsyncStream {
            $0.yield(Data("on".utf8)); $0.yield(Data("ce".utf8)); $0.finish()
        }
        _ = try await stub.send(request("/", .post, body: .oneShot(chunks)))
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
        _ = try await stub.send(request("/", .post, body: body))
        #expect(stub.requests.first?.body.length == 16 << 20)
    }

    @Test func aStreamThatBreaksItsAnnouncedLengthFails() async throws {
        stub.on(nil, "**", .status(200))
        let chunks = AsyncStream {
            $0.yield(Data("short".utf8)); $0.finish()
        }
        let error = await #expect(throws: TransportError.self) {
            try await stub.send(request("/", .post, body: .oneShot(chunks, length: 6)))
        }
        #expect(error?.code == .bodyLengthMismatch)
    }

    @Test func aBufferedAnswerIsHeldToTheLimit() async throws {
        stub.on(nil, "**", .data(Data(count: 10)))
        var limited = try request()
        limited.context.responseBody = .buffered(upTo: 10)
        #expect(try await stub.send(limited).body.bytes?.count == 10)
        limited.context.responseBody = .buffered(upTo: 9)
        let error = await #expect(throws: TransportError.self) { try await stub.send(limited) }
        #expect(error?.code == .bodyTooLarge)
        #expect(error?.url == "https://api.example.com/")
    }

    @Test func chunksAreBufferedUnlessStreamed() async throws {
        stub.on(nil, "**", .chunks([Data("a".utf8), Data(), Data("b".utf8)]))
        #expect(try await stub.send(request()).body.bytes == Data("ab".utf8))
        var streamed = try request()
        streamed.context.responseBody = .streamed
        let response = try await stub.send(streamed)
        #expect(response.body.bytes == nil)
        #expect(!response.body.isRestartable)
        var chunks: [String] = []
        for try await chunk in response.body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        #expect(chunks == ["a", "b"])
        let again = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 9) }
        #expect(again?.code == .bodyNotReplayable)
    }

    @Test func streamedBytesAreAOneShotOfKnownLength() async throws {
        stub.on(nil, "**", .json("{}"))
        var streamed = try request()
        streamed.context.responseBody = .streamed
        let body = try await stub.send(streamed).body
        #expect(body.length == 2)
        #expect(!body.isRestartable)
        #expect(try await body.collect(upTo: 2) == Data("{}".utf8))
    }

    @Test func openBodiesCountsWhatWasNeitherReadNorDiscarded() async throws {
        stub.on(nil, "**", .json("{}"))
        var streamed = try request()
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
        stub.on(nil, "**", .chunks([Data("a".utf8)], thenFailing: Offline()))
        await #expect(throws: Offline()) { try await stub.send(request()) }
        var streamed = try request()
        streamed.context.responseBody = .streamed
        var chunks = try await stub.send(streamed).body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("a".utf8))
        await #expect(throws: Offline()) { try await chunks.next() }
        #expect(stub.openBodies == 0)
    }

    @Test func progressIsReportedBothWays() async throws {
        let (reports, continuation) = AsyncStream<String>.makeStream()
        stub.on(nil, "**", .data(Data(count: 5)))
        var upload = try request("/", .post, body: "abc")
        upload.context.uploadProgress = { continuation.yield("up \($0.completed)/\($0.total ?? -1)") }
        upload.context.downloadProgress = { continuation.yield("down \($0.completed)/\($0.total ?? -1)") }
        _ = try await stub.send(upload)
        continuation.finish()
        #expect(await reports.reduce(into: []) { $0.append($1) } == ["up 3/3", "down 5/5"])
    }
}

@Suite struct StubTransportTimeTests {
    let clock = ManualClock()
    let stub: StubTransport

    init() { stub = StubTransport(clock: clock) }

    @Test func aDelayPassesOnTheInjectedClock() async throws {
        stub.enqueue(.status(200).delayed(by: .seconds(3600)).with(status: 201).delayed(by: .seconds(1)))
        async let response = stub.send(request())
        await clock.sleepers(1)
        #expect(stub.requests.count == 1)
        #expect(clock.nextDeadline?.elapsed == .seconds(3601))
        clock.advance(by: .seconds(3601))
        #expect(try await response.status == 201)
    }

    @Test func cancellationEndsADelayAtOnce() async throws {
        let stub = stub
        stub.enqueue(.status(200).delayed(by: .seconds(3600)))
        let task = Task { [request = try request()] in try await stub.send(request) }
        await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.pendingSleeps == 0)
    }

    @Test func aCancelledCallNeverArrives() async throws {
        let stub = stub
        stub.enqueue(.status(200))
        let request = try request()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await stub.send(request)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.requests.isEmpty)
    }

    @Test func chunksComeOneByOneOnTheClock() async throws {
        stub.on(nil, "**", .chunks([Data("a".utf8), Data("b".utf8)], every: .seconds(5)))
        var streamed = try request()
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
        stub.on(nil, "**", .chunks([Data("a".utf8), Data("b".utf8)], every: .seconds(3600)))
        var streamed = try request()
        streamed.context.responseBody = .streamed
        let response = try await stub.send(streamed)
        let task = Task { try await response.body.collect(upTo: 10) }
        await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.openBodies == 0)
    }

    @Test(arguments: [Timeouts(idle: .seconds(2)), Timeouts(whole: .seconds(2))])
    func aRequestsTimeLimitEndsALongerWait(timeouts: Timeouts) async throws {
        stub.enqueue(.status(200).delayed(by: .seconds(3)))
        var limited = try request()
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
        async let arrived: Void = stub.received(100)
        let request = try request()
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { _ = try await stub.send(request) } }
            try await group.waitForAll()
        }
        await arrived
        #expect(stub.requests.count == 100)
        await stub.received(100)
    }

    @Test func receivedEndsWhenItsTaskIsCancelled() async throws {
        let stub = stub
        let task = Task { await stub.received(1) }
        task.cancel()
        await task.value
    }
}
