import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// A refresh together with retries, limits and timeouts.
@Suite(.againstHanging)
struct RefreshTogetherTests {
    private let clock = ManualClock()
    private let tokenURL = URL(string: "https://api.example.com/token")!

    /// Accepts only the new token, answers every `everySo`-th request with 503, and gives a token to any caller.
    private func server(failing everySo: Int) -> Recorder {
        let tally = Tally()
        return Recorder { [tokenURL] request in
            if request.url == tokenURL { return HTTPResponse(status: 200) }
            if tally.count() % everySo == 0 { return HTTPResponse(status: 503) }
            return HTTPResponse(status: request.headers[.authorization] == "Bearer new" ? 200 : 401)
        }
    }

    @Test(arguments: 0...3)
    func retryAroundARefreshAroundOnePermitNeverDeadlocks(place: Int) async throws {
        let chain = Shared<InterceptorChain?>(nil)
        let refreshes = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin]) { [tokenURL] _ in
            // The refresh uses the same chain, and a request that waits for the refresh may hold its only permit.
            _ = try await chain.value?.send(HTTPRequest(method: .post, url: tokenURL))
            if refreshes.count() == 1 { throw TransportError(.connectionLost, "The log-in server is gone.") }
            return .new
        }
        var interceptors: [any Interceptor] = [
            .retry(.constant(.zero, maxAttempts: 50)), .retryOnUnauthorized(tokens), .bearerAuth(tokens),
        ]
        let limit = LimitConcurrencyInterceptor(1)
        interceptors.insert(limit, at: place)
        let whole = InterceptorChain(interceptors, transport: server(failing: 7))
        chain.value = whole
        defer { chain.value = nil }
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<100 { group.addTask { try await whole.get() } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(refreshes.value == 2)
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test func timeoutDuringARefreshThatOthersWaitForGivesItsPermitBack() async throws {
        let gate = Latch()
        let waiting = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin], observe: counting(waiting)) { _ in
            await gate.opened()
            return .new
        }
        let limit = LimitConcurrencyInterceptor(2)
        let inner: [any Interceptor] = [limit, .retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        let server = TokenServer(accepting: ["new"])
        let impatient = InterceptorChain([.timeout(.seconds(1), time: .manual(clock))] + inner, transport: server)
        let patient = InterceptorChain(inner, transport: server)
        let first = Task { try await impatient.get() }
        await clock.sleepers(1)
        let second = Task { try await patient.get() }
        await waiting.reached(2)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: TransportError.self) { try await first.value }
        #expect(error?.code == .timedOut)
        #expect(limit.pool.counts.inUse == 1)
        gate.open()
        #expect(try await second.value == 200)
        #expect(limit.pool.counts == (0, 0, 0))
        #expect(tokens.current == .new)
    }

    @Test func tenThousandConcurrent401sCauseOneRefreshAndAllSucceed() async throws {
        let count = 10_000
        let refreshes = Tally()
        let waiting = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin], observe: counting(waiting)) { _ in
            refreshes.count()
            await waiting.reached(count)
            return .new
        }
        let chain = InterceptorChain(
            [
                .timeout(.seconds(100), time: .manual(clock)), .retry(.constant(.zero), time: .manual(clock)),
                .retryOnUnauthorized(tokens), .bearerAuth(tokens), .limitConcurrency(64, perHost: 32),
            ],
            transport: server(failing: .max)
        )
        let good = try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<count { group.addTask { try await chain.get() } }
            return try await group.reduce(0) { $0 + ($1 == 200 ? 1 : 0) }
        }
        #expect(good == count)
        #expect(refreshes.value == 1)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func timeoutWhileInLineLeavesTheLine() async throws {
        let limit = LimitConcurrencyInterceptor(1)
        let transport = Recorder { [clock] _ in
            try await clock.sleep(for: .seconds(5))
            return HTTPResponse(status: 200)
        }
        let slow = InterceptorChain([limit], transport: transport)
        let quick = InterceptorChain([.timeout(.seconds(1), time: .manual(clock)), limit], transport: transport)
        let holder = Task { try await slow.get() }
        await clock.sleepers(1)
        let waiter = Task { try await quick.get() }
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: TransportError.self) { try await waiter.value }
        #expect(error?.code == .timedOut)
        clock.advance(by: .seconds(4))
        #expect(try await holder.value == 200)
        #expect(limit.pool.counts == (0, 0, 0))
        #expect(transport.requests.count == 1)
    }
}
