#if os(Linux)
import Foundation
import TestSupport
import Testing
import TransportTesting

@testable import Middlewares

@Suite(.againstHanging) struct CircuitBreakerOverCurlTests {
    /// 64 connections, a healthy server that takes 3 s, 200 calls, `connect` 5 s: the last call waits 9 s for a connection.
    @Test func waitingForAConnectionOfTheTransportDoesNotOpenTheCircuit() async throws {
        let (server, clock) = (try MockServer(), ManualClock())
        let gate = AsyncStream.makeStream(of: Void.self)
        server.on(.get, "/") { _ in
            var iterator = gate.stream.makeAsyncIterator()
            await iterator.next()
            return MockResponse.status(200)
        }
        let transport = CurlTransport(
            timeouts: Timeouts(connect: .seconds(5), idle: .seconds(60)),
            connectionLimits: .init(perHost: 64),
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

    @Test func aLimitOfTheTransportsLineIsNoFailureOfTheHost() {
        let waited = TransportError(.timedOut, "…", underlying: UnsentError(wait: .zero))
        let request = HTTPRequest(url: apiURL)
        #expect(!OutcomeCondition.hostFailure.matches(.failure(waited), to: request))
        #expect(OutcomeCondition.temporaryFailure.matches(.failure(waited), to: request))
        #expect(RetryPolicy.isSafe(HTTPRequest(method: .post, url: apiURL), after: .failure(waited)))
    }
}
#endif
