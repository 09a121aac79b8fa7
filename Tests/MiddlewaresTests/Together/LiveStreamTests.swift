import Foundation
import TestSupport
import Testing
import TransportTesting

@testable import Middlewares

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
        let context = HTTPContext.with(\.isLiveStream, true)
        var lines = client.lines("/export", as: Int.self, context: context).makeAsyncIterator()
        #expect(try await lines.next() == 1)
        try await client.get("/users/42")
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

    @Test func eventStreamsAreNotCoalesced() async throws {
        stub.on(.get, "**/stream", stream("data: a\n\n"))
        let client = client([.coalesce()])
        var first = client.events("/stream").makeAsyncIterator()
        var second = client.events("/stream").makeAsyncIterator()
        for _ in 0..<2 {
            #expect(try await first.next()?.data == "a")
            #expect(try await second.next()?.data == "a")
        }
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
        let authorizations = stub.requests.map { $0.headerFields[.authorization] }
        #expect(authorizations == ["Bearer old", "Bearer new", "Bearer new"])
        #expect(stub.requests.last?.headerFields["Last-Event-ID"] == "1")
    }
}
