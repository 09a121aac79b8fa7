#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct CurlConnectionLineTests {
    /// A server that answers each request when it is told to.
    private struct Server {
        let server: MockServer
        private let gate = AsyncStream.makeStream(of: Void.self)

        init() throws {
            server = try MockServer()
            let stream = gate.stream
            server.on(nil, "/**") { _ in
                var iterator = stream.makeAsyncIterator()
                await iterator.next()
                return StubAnswer.status(200, body: "ok")
            }
        }

        func answer(_ count: Int) { for _ in 0..<count { gate.continuation.yield() } }
    }

    private static func transport(_ clock: ManualClock, _ timeouts: Timeouts, perHost: Int) -> CurlTransport {
        CurlTransport(
            timeouts: timeouts,
            connectionsPerHost: perHost,
            time: .manual(clock)
        )
    }

    /// 64 connections, a healthy server that takes 3 s, 200 requests.
    @Test func connectDoesNotCountTheWaitForOneOfTheTransportsOwnConnections() async throws {
        let (server, clock) = (try Server(), ManualClock())
        let transport = Self.transport(clock, Timeouts(connect: .seconds(5)), perHost: 64)
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            let request = try makeRequest(server.server)
            for _ in 0..<200 { group.addTask { try await transport.send(request).status } }
            for sent in [64, 128, 192, 200] {
                #expect(await server.server.requests(atLeast: sent).count == sent)
                clock.advance(by: .seconds(3))
                server.answer(64)
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(server.server.connectionsOpened == 64)
        await transport.shutDown()
    }

    @Test func theWaitInTheLineHasALimitAndTheErrorSaysSo() async throws {
        let (server, clock) = (try Server(), ManualClock())
        let transport = Self.transport(clock, Timeouts(connect: .seconds(5), idle: .seconds(60)), perHost: 1)
        let request = try makeRequest(server.server, timeouts: Timeouts(idle: nil))
        let first = Task { try await transport.send(request) }
        await server.server.requests(atLeast: 1)
        let waiting = Task { try await transport.send(makeRequest(server.server, "/", .post, body: "content")) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        let error = try await failure { try await waiting.value }
        #expect(error.code == .timedOut && error.sentNothing)
        #expect(error.message.contains("one of the transport's own connections"), "\(error)")
        #expect(!error.message.contains("No connection was established"))
        server.answer(1)
        #expect(try await first.value.status == 200)
        #expect(server.server.requests.count == 1)
        await transport.shutDown()
    }

    @Test func theLimitOfTheCallCountsInTheLine() async throws {
        let (server, clock) = (try Server(), ManualClock())
        let transport = Self.transport(clock, Timeouts(idle: nil, total: .seconds(9)), perHost: 1)
        let request = try makeRequest(server.server, timeouts: Timeouts(idle: nil))
        let first = Task { try await transport.send(request) }
        await server.server.requests(atLeast: 1)
        let waiting = Task { try await transport.send(makeRequest(server.server)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(9))
        let error = try await failure { try await waiting.value }
        #expect(error.code == .timedOut && error.sentNothing)
        #expect(error.message.contains("timeouts.total") && error.message.contains("own connections"), "\(error)")
        server.answer(1)
        #expect(try await first.value.status == 200)
        await transport.shutDown()
    }

    @Test func aCallThatIsCancelledInTheLineIsNeverSent() async throws {
        let (server, clock) = (try Server(), ManualClock())
        let transport = Self.transport(clock, Timeouts(idle: nil), perHost: 1)
        let first = Task { try await transport.send(makeRequest(server.server, "/first")) }
        await server.server.requests(atLeast: 1)
        let second = Task { try await transport.send(makeRequest(server.server, "/second")) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        let third = Task { try await transport.send(makeRequest(server.server, "/third")) }
        server.answer(2)
        #expect(try await first.value.status == 200)
        #expect(try await third.value.status == 200)
        #expect(server.server.requests.map(\.path) == ["/first", "/third"])
        await transport.shutDown()
    }

    @Test func spellingsOfAHostShareItsLimit() async throws {
        let (server, clock) = (try Server(), ManualClock())
        let transport = Self.transport(clock, Timeouts(connect: nil, idle: .seconds(60)), perHost: 1)
        let port = try #require(server.server.url.port)
        func request(_ host: String, _ timeouts: Timeouts? = nil) throws -> HTTPRequest {
            var request = HTTPRequest(url: try #require(URL(string: "http://\(host):\(port)/")))
            request.context.timeouts = timeouts
            return request
        }
        let open = try request("localhost", Timeouts(idle: nil))
        let first = Task { try await transport.send(open) }
        await server.server.requests(atLeast: 1)
        let other = try request("LOCALHOST")
        let waiting = Task { try await transport.send(other) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        let error = try await failure { try await waiting.value }
        #expect(error.message.contains("one of the transport's own connections"), "\(error)")
        server.answer(1)
        #expect(try await first.value.status == 200)
        await transport.shutDown()
    }

    @Test func callAfterTheEndOfTheTransportSendsNothing() async throws {
        let server = try Server()
        let transport = Self.transport(ManualClock(), Timeouts(), perHost: 1)
        await transport.shutDown()
        let error = try await failure { try await transport.send(makeRequest(server.server)) }
        #expect(error.code == .connectionLost && error.sentNothing, "\(error)")
    }

    @Test func shutDownEndsTheCallsInTheLine() async throws {
        let (server, clock) = (try Server(), ManualClock())
        let transport = Self.transport(clock, Timeouts(idle: .seconds(60)), perHost: 1)
        let calls = (0..<3).map { _ in Task { try await transport.send(makeRequest(server.server)) } }
        await server.server.requests(atLeast: 1)
        await transport.shutDown()
        for call in calls { #expect(try await failure { try await call.value }.code == .connectionLost) }
        server.answer(1)
    }
}
#endif
