import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct StubTransportTests {
    let stub = StubTransport()

    @Test func queuedAnswersComeInOrder() async throws {
        stub.enqueue(.json(#"{"a":1}"#), .status(503))
        stub.enqueue(.failure(Offline()))
        let first = try await stub.send(stubRequest())
        #expect(first.status == 200)
        #expect(first.headers[.contentType] == "application/json")
        #expect(try await stubText(first) == #"{"a":1}"#)
        #expect(try await stub.send(stubRequest()).status == 503)
        await #expect(throws: Offline()) { try await stub.send(stubRequest()) }
        try stub.verify()
    }

    @Test func aStubIsStickyUnlessTimesLimitsIt() async throws {
        stub.on(.get, "/a", .status(200))
        stub.on(.get, "/b", .status(200), times: 2)
        for _ in 0..<5 { #expect(try await stub.send(stubRequest("/a")).status == 200) }
        for _ in 0..<2 { #expect(try await stub.send(stubRequest("/b")).status == 200) }
        await #expect(throws: TransportError.self) { try await stub.send(stubRequest("/b")) }
    }

    @Test func limitedStubsComeFirstAndTheOldestOfThemFirst() async throws {
        stub.on(.get, "/a", .status(201), times: 1)
        stub.on(.get, "/a", .status(200))
        stub.on(.get, "/a", .status(202), times: 1)
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await stub.send(stubRequest("/a")).status.code) }
        #expect(statuses == [201, 202, 200, 200])
    }

    @Test func theQueueServesOnlyWhatNoStubTakes() async throws {
        stub.enqueue(.status(201))
        stub.on(.get, "/a", .status(200))
        #expect(try await stub.send(stubRequest("/a")).status == 200)
        #expect(try await stub.send(stubRequest("/b")).status == 201)
    }

    @Test func aPredicateSeesTheBody() async throws {
        stub.on({ $0.body.data == Data("yes".utf8) }, .status(200))
        stub.enqueue(.status(404))
        #expect(try await stub.send(stubRequest("/", .post, body: "yes")).status == 200)
        #expect(try await stub.send(stubRequest("/", .post, body: "no")).status == 404)
    }

    @Test func aPredicateMayUseTheStub() async throws {
        let stub = stub
        stub.on({ _ in stub.requests.count == 2 }, .status(200))
        stub.enqueue(.status(404))
        #expect(try await stub.send(stubRequest()).status == 404)
        #expect(try await stub.send(stubRequest()).status == 200)
    }

    @Test func aStubRegisteredLateStillWorks() async throws {
        await #expect(throws: TransportError.self) { try await stub.send(stubRequest("/late")) }
        stub.on(.get, "/late", .status(200))
        #expect(try await stub.send(stubRequest("/late")).status == 200)
        let gate = AsyncStream<Data>.makeStream()
        async let waiting = stub.send(stubRequest("/upload", .put, body: .oneShot(gate.stream)))
        stub.on(.put, "/upload", .status(201))
        gate.continuation.yield(Data("x".utf8))
        gate.continuation.finish()
        #expect(try await waiting.status == 201)
    }

    @Test func anUnmatchedRequestNamesItselfAndWhatWasOnOffer() async throws {
        stub.on(.get, "/users/*?token=hush", .json("{}"), times: 1)
        stub.on({ _ in false }, .status(404))
        stub.enqueue(.status(202))
        _ = try await stub.send(stubRequest())
        let error = await #expect(throws: TransportError.self) {
            try await stub.send(stubRequest("/orders?api_key=hush", .post))
        }
        #expect(error?.code == .noStub)
        let description = try #require(error?.description)
        #expect(description.contains("POST https://api.example.com/orders?api_key=<redacted>"))
        #expect(description.contains("GET /users/*?token=<redacted>"))
        #expect(description.contains("used 0 of 1 times"))
        #expect(description.contains("a closure"))
        #expect(description.contains("empty after 1 answer"))
        #expect(description.contains("StubTransportTests.swift:"))
        #expect(!description.contains("hush"))
    }

    @Test func withoutAnyStubTheErrorSaysSo() async throws {
        let error = await #expect(throws: TransportError.self) { try await stub.send(stubRequest()) }
        #expect(error?.message.contains("No stub was registered") == true)
    }

    @Test func aClosureAnswersEverything() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: 200, body: HTTPBody(request.url.path))
        }
        let response = try await stub.send(stubRequest("/x"))
        #expect(try await stubText(response) == "/x")
        #expect(response.url?.path == "/x")
        try stub.verify()
    }

    @Test func theFallbackGetsWhatNothingTakes() async throws {
        let below = StubTransport { HTTPResponse(status: 299, body: HTTPBody($0.body.data ?? Data("none".utf8))) }
        let stub = StubTransport(fallback: below)
        stub.on(.get, "/a", .status(200))
        #expect(try await stub.send(stubRequest("/a")).status == 200)
        #expect(try await stub.send(stubRequest("/b")).status == 299)
        let chunks = AsyncStream {
            $0.yield(Data("once".utf8)); $0.finish()
        }
        let response = try await stub.send(stubRequest("/c", .post, body: .oneShot(chunks)))
        #expect(try await stubText(response) == "once")
        #expect(below.requests.count == 2)
        #expect(stub.requests.count == 3)
    }

    @Test func thousandsOfConcurrentRequestsTakeEachAnswerOnce() async throws {
        let stub = stub
        stub.on(.get, "/limited", .status(201), times: 500)
        for code in 0..<500 { stub.enqueue(.data(Data("\(code)".utf8))) }
        let request = try stubRequest("/limited")
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    let response = try await stub.send(request)
                    return response.status == 201 ? "limited" : try await stubText(response)
                }
            }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(answers.count { $0 == "limited" } == 500)
        #expect(Set(answers).count == 501)
        #expect(stub.requests.count == 1000)
        try stub.verify()
    }

    @Test func limitOfTheWholeCallCoversAllPausesOfAStream() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        stub.on(nil, "**", .stream(Array(repeating: Data("a".utf8), count: 4), every: .seconds(1)))
        var request = try stubRequest()
        request.context.timeouts = Timeouts(idle: nil, total: .milliseconds(2_500))
        let call = Task { [request] in try await stub.send(request) }
        for _ in 0..<3 {
            await clock.sleepers(1)
            clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: TransportError.self) { try await call.value }
        #expect(error?.code == .timedOut)
    }

    @Test(arguments: [(HTTPRequest.Method.head, 200), (.get, 204), (.get, 304)])
    func contentThatNoResponseMayHaveIsDiscarded(method: HTTPRequest.Method, code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        let discards = Notes<Void>()
        stub.enqueue(.status(status, body: .oneShot(AsyncStream<Data> { $0.finish() }) { discards.add(()) }))
        #expect(try await stub.send(stubRequest("/", method)).body.isEmpty)
        #expect(discards.all.count == 1)
    }
}

@Suite(.againstHanging) struct StubTransportAnswerTests {
    let stub = StubTransport()

    private struct User: Codable, Equatable {
        var name = "Ada"
        var id = 42
    }

    private struct Broken: Encodable {
        func encode(to encoder: any Encoder) throws { throw Offline() }
    }

    @Test func anEncodableIsAnsweredAsJSONWithSortedKeys() async throws {
        stub.enqueue(.json(encoding: User()), .json(encoding: User(), status: 201))
        let response = try await stub.send(stubRequest())
        #expect(response.headers[.contentType] == "application/json")
        #expect(try await stubText(response) == #"{"id":42,"name":"Ada"}"#)
        #expect(try await stub.send(stubRequest()).status == 201)
    }

    @Test func anEncodableThatFailsFailsTheRequest() async throws {
        stub.enqueue(.json(encoding: Broken()))
        await #expect(throws: Offline()) { try await stub.send(stubRequest()) }
    }

    @Test func jsonTextIsSentAsItIs() async throws {
        stub.enqueue(.json("{broken", status: 400))
        let response = try await stub.send(stubRequest())
        #expect(response.status == 400)
        #expect(try await stubText(response) == "{broken")
    }

    @Test func aFileIsReadWhenItIsAnswered() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("late.json")
        stub.on(.get, "/file", .file(url))
        let missing = await #expect(throws: TransportError.self) { try await stub.send(stubRequest("/file")) }
        #expect(missing?.code == .unreadableFile)
        try Data(#"{"late":true}"#.utf8).write(to: url)
        let response = try await stub.send(stubRequest("/file"))
        #expect(try await stubText(response) == #"{"late":true}"#)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.body.data != nil)
    }

    @Test func fieldsReplaceTheContentTypeOfAFactory() async throws {
        let busy = StubAnswer.json("{}", status: 503, headers: [.retryAfter: "2", .contentType: "text/plain"])
        stub.enqueue(busy)
        let response = try await stub.send(stubRequest())
        #expect(response.status == 503)
        #expect(response.headers[.retryAfter] == "2")
        #expect(response.headers[values: .contentType] == ["text/plain"])
    }

    @Test func textIsPlainTextInUTF8() async throws {
        stub.enqueue(.text("Grüße", status: 202))
        let response = try await stub.send(stubRequest())
        #expect(response.status == 202)
        #expect(response.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(try await stubText(response) == "Grüße")
    }

    @Test func closureChoosesTheAnswerToEachRequest() async throws {
        stub.on(.put, "/**") { request in
            guard request.url.path == "/a" else { throw Offline() }
            return .status(204)
        }
        #expect(try await stub.send(stubRequest("/a", .put)).status == 204)
        await #expect(throws: Offline()) { try await stub.send(stubRequest("/b", .put)) }
    }

    @Test func anAnswerIsMadeForEachRequest() async throws {
        stub.on(nil, "**", .answer { HTTPResponse(status: 200, body: HTTPBody($0.method.rawValue)) })
        #expect(try await stubText(stub.send(stubRequest())) == "GET")
        #expect(try await stubText(stub.send(stubRequest("/", .put))) == "PUT")
    }

    @Test func anAnswersOwnURLIsKept() async throws {
        let moved = try #require(URL(string: "https://other.example/"))
        stub.enqueue(.answer { _ in HTTPResponse(status: 200, url: moved) }, .status(200))
        #expect(try await stub.send(stubRequest("/a")).url == moved)
        #expect(try await stub.send(stubRequest("/b")).url?.path == "/b")
    }

    @Test(arguments: [HTTPResponse.Status(integerLiteral: 204), 304])
    func whatHasNoContentOnTheWireHasNoneHere(status: HTTPResponse.Status) async throws {
        stub.on(nil, "**", .json("{}", status: status))
        #expect(try await stub.send(stubRequest()).body.isEmpty)
    }

    @Test func forgettingStubKeepsNoRequest() async throws {
        let stub = StubTransport(forgettingRequests: true, fallback: nil, time: .system)
        stub.on(.get, "/a", .status(204), times: 1)
        #expect(try await stub.send(stubRequest("/a")).status == 204)
        await #expect(throws: TransportError.self) { try await stub.send(stubRequest("/a")) }
        #expect(stub.requests.isEmpty)
        try stub.verify()
    }

    @Test(arguments: [Timeouts(idle: .seconds(5)), Timeouts(idle: nil, total: .seconds(5))])
    func aBodyThatNeverEndsMeetsTheRequestsTimeLimit(timeouts: Timeouts) async throws {
        let clock = ManualClock()
        let (silence, end) = AsyncStream.makeStream(of: Data.self)
        defer { end.finish() }
        var request = try stubRequest("/a", .post)
        request.body = .oneShot(silence)
        request.context.timeouts = timeouts
        let stub = StubTransport(time: .manual(clock))
        stub.enqueue(.status(200))
        let error = await #expect(throws: TransportError.self) {
            try await clock.run { [request] in try await stub.send(request) }
        }
        #expect(error?.code == .timedOut && clock.now.elapsed == .seconds(5))
    }

    @Test(arguments: [true, false]) func theTotalLimitCountsTheBodyAndTheAnswerTogether(isFallback: Bool) async throws {
        let clock = ManualClock()
        let time = TimeSource.manual(clock)
        var request = try stubRequest("/a", .post)
        request.body = .restartable {
            AsyncThrowingStream<Data, any Error> {
                try await clock.sleep(for: .seconds(4))
                return nil
            }
        }
        request.context.timeouts = Timeouts(idle: nil, total: .seconds(5))
        let answering = StubTransport(time: time)
        answering.enqueue(.text("late").delayed(by: .seconds(3)))
        let stub = isFallback ? StubTransport(fallback: answering, time: time) : answering
        let error = await #expect(throws: TransportError.self) {
            try await clock.run { [request] in try await stub.send(request) }
        }
        #expect(error?.code == .timedOut && clock.now.elapsed == .seconds(5), "\(clock.now.elapsed)")
    }

    @Test func aResponseToHEADHasNoContent() async throws {
        stub.on(nil, "**", .json("{}"))
        let response = try await stub.send(stubRequest("/", .head))
        #expect(response.body.isEmpty)
        #expect(response.headers[.contentType] == "application/json")
    }
}
