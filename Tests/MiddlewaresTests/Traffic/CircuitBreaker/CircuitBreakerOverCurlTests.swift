#if os(Linux)
@testable import InterceptorsTraffic
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CircuitBreakerOverCurlTests {
    /// 64 connections, a healthy server that takes 3 s, 200 calls, `connect` 5 s: the last call waits 9 s for a connection.
    @Test func waitingForAConnectionOfTheTransportDoesNotOpenTheCircuit() async throws {
        let (server, clock) = (try MockServer(), ManualClock())
        let gate = AsyncStream.makeStream(of: Void.self)
        server.on(.get, "/") { _ in
            var iterator = gate.stream.makeAsyncIterator()
            await iterator.next()
            return StubAnswer.status(200)
        }
        let transport = CurlTransport(
            timeouts: Timeouts(connect: .seconds(5), idle: .seconds(60)),
            connectionsPerHost: 64,
            time: .manual(clock)
        )
        let (changes, failures) = (Tally(), Tally())
        let breaker: AnyInterceptor = .circuitBreaker(time: .manual(clock)) { _, _, _ in changes.count() }
        let client = Client(baseURL: server.url, interceptors: [breaker], transport: transport)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let response = try? await client.send(HTTPRequest(url: server.url))
                    if response?.status != 200 { failures.count() }
                }
            }
            for sent in [64, 128, 192, 200] {
                await server.requests(atLeast: sent)
                clock.advance(by: .seconds(3))
                for _ in 0..<64 { gate.continuation.yield() }
            }
        }
        #expect(failures.value == 0 && changes.value == 0)
        #expect(server.requests.count == 200)
        gate.continuation.finish()
        await transport.shutDown()
    }

    @Test func timeoutInTheLineOfTheTransportDoesNotOpenTheCircuit() async throws {
        let (server, clock, changes) = (try MockServer(), ManualClock(), Tally())
        let gate = AsyncStream.makeStream(of: Void.self)
        server.on(.get, "/") { _ in
            var iterator = gate.stream.makeAsyncIterator()
            await iterator.next()
            return StubAnswer.status(200)
        }
        let transport = CurlTransport(connectionsPerHost: 1)
        let first = Task { try await transport.send(HTTPRequest(url: server.url)) }
        await server.requests(atLeast: 1)
        let time = TimeSource.manual(clock)
        let breaker: AnyInterceptor = .circuitBreaker(.consecutiveFailures(1), time: time) { _, _, _ in changes.count()
        }
        let chain = InterceptorChain([breaker, .timeout(.seconds(10), time: time)], transport: transport)
        let notes = InterruptionNotes()
        var request = HTTPRequest(url: server.url)
        request.context.interruptionNotes = notes
        let call = Task { [request] in try await chain.send(request) }
        while !notes.isInLine { await Task.yield() }
        clock.advance(by: .seconds(10))
        let error = try #require(await #expect(throws: TransportError.self) { try await call.value })
        #expect(error.code == .timedOut && error.sentNothing, "\(error)")
        #expect(error.message.contains("one of the transport's own connections"))
        #expect(changes.value == 0)
        gate.continuation.finish()
        #expect(try await first.value.status == 200)
        #expect(server.requests.count == 1)
        await transport.shutDown()
    }

    /// The first of two requests of a call was sent, so the call has sent something.
    @Test func onlyACallWithoutAnySentRequestSentNothing() {
        let notes = InterruptionNotes()
        #expect(!notes.isInLine)
        notes.waitInLine()
        #expect(notes.isInLine)
        notes.beginSending()
        notes.waitInLine()
        #expect(!notes.isInLine)
    }

    @Test func aLimitOfTheTransportsLineIsNoFailureOfTheHost() {
        let waited = TransportError(.timedOut, "…", underlying: UnsentError(wait: .zero))
        let request = HTTPRequest(url: apiURL)
        #expect(!OutcomeCondition.hostFailure.matches(.failure(waited), to: request))
        #expect(OutcomeCondition.temporaryFailure.matches(.failure(waited), to: request))
        #expect(RetryPolicy.isSafe(HTTPRequest(method: .post, url: apiURL), after: .failure(waited)))
    }
}
#endif
