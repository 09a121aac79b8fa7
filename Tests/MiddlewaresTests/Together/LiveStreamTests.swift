import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// Events and lines through a chain.
@Suite(.againstHanging) struct LiveStreamTests {
    private let clock = ManualClock()
    private let stub: StubTransport

    init() { stub = StubTransport(time: .manual(clock)) }

    private func client(_ interceptors: [any Interceptor]) -> Client {
        Client(baseURL: apiURL, interceptors: interceptors, transport: stub)
    }

    private func stream(_ text: String, type: String = "text/event-stream", headers: HTTPFields = [:]) -> StubAnswer {
        var headers = headers
        headers[.contentType] = type
        return .stream([Data(text.utf8), Data(text.utf8)], headers: headers)
    }

    @Test func anEventStreamHoldsNoPermit() async throws {
        stub.on(.get, "**/stream", stream("data: a\n\n"))
        stub.on(.get, "**/users/42", .json("{}"))
        let limit = LimitConcurrencyInterceptor(1, maxQueued: 0)
        let client = client([limit])
        var events = client.events("/stream").makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        #expect(stub.openBodies == 1)
        try await client.get("/users/42")
        #expect(limit.pool.counts == (0, 0, 0))
        #expect(try await events.next()?.data == "a")
    }

    @Test func linesHoldTheirPermitUntilTheirEnd() async throws {
        stub.on(.get, "**/export", stream("1\n", type: "application/jsonl"))
        stub.on(.get, "**/users/42", .json("{}"))
        let client = client([.limitConcurrency(1, maxQueued: 0)])
        var lines = client.lines("/export", as: Int.self).makeAsyncIterator()
        #expect(try await lines.next() == 1)
        await #expect(throws: LimitError.self) { try await client.get("/users/42") }
        #expect(try await lines.next() == 1)
        #expect(try await lines.next() == nil)
        try await client.get("/users/42")
    }

    @Test func aLiveStreamOfLinesHoldsNoPermit() async throws {
        stub.on(.get, "**/export", stream("1\n", type: "application/jsonl"))
        stub.on(.get, "**/users/42", .json("{}"))
        let client = client([.limitConcurrency(1, maxQueued: 0)])
        let context = HTTPContext.with(\.callShape, .liveStream)
        var lines = client.lines("/export", as: Int.self, context: context).makeAsyncIterator()
        #expect(try await lines.next() == 1)
        try await client.get("/users/42")
    }

    /// Each connection starts at the stream's own URL.
    @Test(arguments: [301, 302, 303, 307, 308] as [HTTPResponse.Status])
    func anEventStreamFollowsRedirects(status: HTTPResponse.Status) async throws {
        stub.on(.get, "https://api.example.com/**", .status(status, headers: [.location: "https://b.example/live"]))
        stub.on(.get, "https://b.example/live", stream("id: 7\ndata: a\n\n"), times: 1)
        stub.on(.get, "https://b.example/live", .status(204))
        let events = client([.followRedirects()]).events("/stream", time: .manual(clock))
        let all = try await clock.run {
            var all: [ServerSentEvent] = []
            for try await event in events { all.append(event) }
            return all
        }
        #expect(all.map(\.data) == ["a", "a"])
        #expect(
            stub.requests.map { $0.url.host() } == ["api.example.com", "b.example", "api.example.com", "b.example"]
        )
        #expect(stub.requests.map { $0.headers["Last-Event-ID"] } == [nil, nil, "7", "7"])
        #expect(stub.requests.allSatisfy { $0.headers[.accept] == "text/event-stream" && $0.method == .get })
        #expect(stub.openBodies == 0)
    }

    @Test func aCacheNeitherStoresAnEventStreamNorAnswersIt() async throws {
        stub.on(.get, "**/stream", stream("data: a\n\n", headers: [.cacheControl: "max-age=3600"]))
        let client = client([.cache(.memory(), time: .manual(clock))])
        for _ in 0..<2 {
            for try await event in client.events("/stream", reconnection: nil) { #expect(event.data == "a") }
        }
        #expect(stub.requests.count == 2)
        let url = try #require(stub.requests.first?.url)
        _ = try await client.send(HTTPRequest(url: url))
        #expect(stub.requests.count == 3)
        // An entry that another call has stored isn't used either.
        for try await _ in client.events("/stream", reconnection: nil) {}
        #expect(stub.requests.count == 4)
    }

    @Test(arguments: [[:], [.cacheControl: "max-stale"]] as [HTTPFields])
    func aCacheNeitherAnswersALiveStreamNorAddsACondition(headers: HTTPFields) async throws {
        let stored: HTTPFields = [.cacheControl: "max-age=0", .eTag: "\"1\""]
        stub.on(.get, "**/stream", stream("data: old\n\n", headers: stored), times: 1)
        stub.on(.get, "**/stream", stream("data: new\n\n"), times: 1)
        let client = client([.cache(.memory(), time: .manual(clock))])
        _ = try await client.send(HTTPRequest(url: apiURL.appending(path: "stream")))
        var events = client.events("/stream", headers: headers).makeAsyncIterator()
        #expect(try await events.next()?.data == "new")
        #expect(stub.requests.last?.headers[.ifNoneMatch] == nil)
    }

    @Test func aCacheDoesNotReplaceTheFailureOfALiveStream() async throws {
        stub.on(.get, "**/stream", stream("data: old\n\n", headers: [.cacheControl: "max-age=0"]), times: 1)
        stub.on(.get, "**/stream", .failure(TransportError(.offline, "Offline.")), times: 1)
        stub.on(.get, "**/stream", stream("data: new\n\n"), times: 1)
        let client = client([.cache(.memory(), time: .manual(clock))])
        _ = try await client.send(HTTPRequest(url: apiURL.appending(path: "stream")))
        let time = TimeSource.manual(clock)
        let first = try await clock.run {
            var events = client.events("/stream", time: time).makeAsyncIterator()
            return try await events.next()?.data
        }
        #expect(first == "new")
    }

    @Test func anUnsafeLiveStreamInvalidatesWhatTheCacheHasStored() async throws {
        stub.on(.get, "**/users/42", .json("{}", headers: [.cacheControl: "max-age=3600"]))
        stub.on(.post, "**/users/42", stream("data: a\n\n"))
        let client = client([.cache(.memory(), time: .manual(clock))])
        try await client.get("/users/42")
        for try await _ in client.events(from: EndpointRequest<NoContent>.post("/users/42")) {}
        try await client.get("/users/42")
        #expect(stub.requests.map(\.method) == [.get, .post, .get])
    }

    @Test func anErrorPageThatMayStayOpenIsNotRead() async throws {
        let reads = Tally()
        stub.on(
            .get,
            "**/stream",
            .answer { request in
                let fields: HTTPFields = [.contentType: "text/event-stream"]
                let body = HTTPBody.oneShot(Chunks([":\n"], reads: reads))
                return HTTPResponse(status: 500, headers: fields, body: body, url: request.url)
            }
        )
        var events = client([.validateStatus()]).events("/stream", idleLimit: nil).makeAsyncIterator()
        let error = await #expect(throws: StatusError.self) { try await events.next() }
        #expect(error?.isBodyComplete == false)
        #expect(reads.value == 0)
        #expect(stub.openBodies == 0)
    }

    @Test func aStreamWaitsForAnOpenCircuit() async throws {
        stub.on(.get, "**/stream", .status(503), times: 2)
        stub.on(.get, "**/stream", stream("data: a\n\n"))
        let time = TimeSource.manual(clock)
        let client = client([.circuitBreaker(.consecutiveFailures(2), openFor: .seconds(60), time: time)])
        for _ in 0..<2 { _ = try await client.send(HTTPRequest(url: apiURL.appending(path: "stream"))) }
        let first = try await clock.run {
            var events = client.events("/stream", reconnection: Reconnection(maxFailures: 2), time: time)
                .makeAsyncIterator()
            return try await events.next()?.data
        }
        #expect(first == "a")
        #expect(clock.now.elapsed >= .seconds(60))
        #expect(stub.requests.count == 3)
    }

    @Test func aStreamWaitsForAPermit() async throws {
        stub.on(.get, "**/export", stream("1\n", type: "application/jsonl"))
        stub.on(.get, "**/stream", stream("data: a\n\n"))
        let refused = Tally()
        let observing = AnyInterceptor.intercept { request, next in
            defer { refused.count() }
            return try await next(request)
        }
        let client = client([observing, .limitConcurrency(1, maxQueued: 0)])
        let time = TimeSource.manual(clock)
        let first = try await clock.run {
            var lines = client.lines("/export", as: Int.self).makeAsyncIterator()
            let line = try await lines.next()
            #expect(line == 1)
            async let first = client.events("/stream", time: time).first { _ in true }
            await refused.reached(2)
            while try await lines.next() != nil {}
            return try await first?.data
        }
        #expect(first == "a")
    }

    @Test func eventStreamsAreNotCoalesced() async throws {
        stub.on(.get, "**/stream", stream("data: a\n\n").delayed(by: .seconds(1)))
        let client = client([.coalesce()])
        let time = TimeSource.manual(clock)
        // Both requests wait for their heads at the same time: a shared exchange would be one sleeper.
        let data = try await clock.run(sleepers: 2, failingWhenStuck: true) {
            async let first = client.events("/stream", time: time).first { _ in true }
            async let second = client.events("/stream", time: time).first { _ in true }
            return try await [first?.data, second?.data]
        }
        #expect(data == ["a", "a"])
        #expect(stub.requests.count == 2)
    }

    @Test func eachConnectionHasAFreshToken() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        stub.on(.get, "**/stream", .status(401), times: 1)
        stub.on(.get, "**/stream", stream("id: 1\ndata: a\n\n"), times: 1)
        stub.on(.get, "**/stream", .status(204), times: 1)
        let client = client([.validateStatus(), .retryOnUnauthorized(tokens), .bearerAuth(tokens)])
        let time = TimeSource.manual(clock)
        let count = try await clock.run {
            var count = 0
            for try await _ in client.events("/stream", time: time) { count += 1 }
            return count
        }
        #expect(count == 2)
        let authorizations = stub.requests.map { $0.headers[.authorization] }
        #expect(authorizations == ["Bearer old", "Bearer new", "Bearer new"])
        #expect(stub.requests.last?.headers["Last-Event-ID"] == "1")
    }
}
