import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// Limits, coalescing, timeouts and circuit breakers together with retries and refreshes.
@Suite(.againstHanging)
struct LimitChainTests {
    private let clock = ManualClock()

    private func retry(_ maxAttempts: Int = 3) -> AnyInterceptor {
        .retry(.constant(.zero, maxAttempts: maxAttempts), time: .manual(clock))
    }

    @Test(arguments: [true, false])
    func retryAroundRefreshAroundOnePermitDoesNotDeadlock(isLimitOutside: Bool) async throws {
        let failures = Tally()
        let server = TokenServer(accepting: ["new"]) { request in
            if failures.count().isMultiple(of: 3) {
                throw TransportError(.connectionLost, "Cut off.", request: request)
            }
        }
        let chain = Shared<InterceptorChain?>(nil)
        let refreshes = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            refreshes.count()
            _ = try? await chain.value?.get(URL(string: "https://api.example.com/login")!)
            return .new
        }
        let limit = LimitConcurrencyInterceptor(1)
        let inside: [any Interceptor] = [retry(50), .retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        let all = InterceptorChain(isLimitOutside ? [limit] + inside : inside + [limit], transport: server)
        chain.value = all
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await all.get() } }
            for try await status in group { #expect(status == 200) }
        }
        chain.value = nil
        #expect(refreshes.value == 1)
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test func timeoutEndsTheWaitForAPermitAndLosesNone() async throws {
        let limit = LimitConcurrencyInterceptor(1)
        let server = Recorder { [clock] _ in
            try await clock.sleep(for: .seconds(100))
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain([.timeout(.seconds(5), time: .manual(clock)), limit], transport: server)
        let tasks = (0..<20).map { _ in Task { try await chain.get() } }
        // Twenty timers, and the transport of the one request that was sent.
        await clock.sleepers(21)
        clock.advance(by: .seconds(5))
        for task in tasks {
            let error = await #expect(throws: TransportError.self) { try await task.value }
            #expect(error?.code == .timedOut)
        }
        #expect(limit.pool.counts == (0, 0, 0))
        #expect(clock.pendingSleeps == 0)
    }

    @Test func rateLimitDoesNotLetARequestWaitBeyondTheTimeoutOutside() async throws {
        let server = Recorder()
        let chain = InterceptorChain(
            [.timeout(.seconds(5), time: .manual(clock)), .rateLimit(1, per: .seconds(10), time: .manual(clock))],
            transport: server
        )
        #expect(try await chain.get() == 200)
        let error = await #expect(throws: TransportError.self) { try await chain.get() }
        #expect(error?.code == .timedOut)
        #expect(clock.now.elapsed == .zero)
        #expect(server.requests.count == 1)
    }

    @Test func openCircuitEndsTheRetries() async throws {
        let server = Recorder { _ in HTTPResponse(status: 503) }
        let chain = InterceptorChain(
            [retry(10), .circuitBreaker(.consecutiveFailures(3), time: .manual(clock))],
            transport: server
        )
        let error = await #expect(throws: LimitError.self) { try await chain.get() }
        #expect(server.requests.count == 3)
        #expect(error?.context.attempts.map(\.status) == [503, 503, 503, nil])
    }

    @Test func timeoutInsideACircuitBreakerIsAFailureOfTheHostAndOneOutsideIsNot() async throws {
        let server = Recorder { [clock] _ in
            try await clock.sleep(for: .seconds(100))
            return HTTPResponse(status: 200)
        }
        let timeout: AnyInterceptor = .timeout(.seconds(1), time: .manual(clock))
        let breaker: AnyInterceptor = .circuitBreaker(.consecutiveFailures(1), time: .manual(clock))
        for interceptors: [any Interceptor] in [[timeout, breaker], [breaker, timeout]] {
            let chain = InterceptorChain(interceptors, transport: server)
            let task = Task { try await chain.get() }
            await clock.sleepers(2)
            clock.advance(by: .seconds(1))
            let error = await #expect(throws: TransportError.self) { try await task.value }
            #expect(error?.code == .timedOut)
        }
        await #expect(throws: LimitError.self) { try await InterceptorChain([breaker], transport: server).get() }
    }

    @Test(arguments: [true, false])
    func followersAreServedWhenTheLeaderIsRetriedOrCancelled(isRetryInside: Bool) async throws {
        let (joined, gate, arrivals) = (Tally(), Latch(), Tally())
        let coalesce = CoalesceInterceptor(observe: counting(joined))
        let server = Recorder { _ in
            let number = arrivals.count()
            await gate.opened()
            return HTTPResponse(status: number == 1 ? 503 : 200)
        }
        let chain = InterceptorChain(isRetryInside ? [coalesce, retry()] : [retry(), coalesce], transport: server)
        let leader = Task { try await chain.get() }
        await arrivals.reached(1)
        let followers = (0..<50).map { _ in Task { try await chain.get() } }
        await joined.reached(51)
        leader.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        gate.open()
        for follower in followers { #expect(try await follower.value == 200) }
        #expect(isRetryInside ? arrivals.value == 2 : arrivals.value <= 51)
        #expect(coalesce.coalescer.counts == (0, 0))
    }

    @Test func sharedRejectionLeadsToOneRefreshAndOneMoreExchange() async throws {
        let joined = Tally()
        let gate = Latch()
        let server = TokenServer(accepting: ["new"]) { request in
            if request.headers[.authorization] == "Bearer old" { await gate.opened() }
        }
        let refreshes = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            refreshes.count()
            return .new
        }
        let coalesce = CoalesceInterceptor(observe: counting(joined))
        let chain = InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens), coalesce], transport: server)
        let tasks = (0..<100).map { _ in Task { try await chain.get() } }
        await joined.reached(100)
        gate.open()
        for task in tasks { #expect(try await task.value == 200) }
        #expect(refreshes.value == 1)
        #expect(server.authorizations.count { $0 == "Bearer old" } == 1)
        #expect(coalesce.coalescer.counts == (0, 0))
    }

    @Test func overtakenRequestLeavesTheExchangeThatOthersShare() async throws {
        let (joined, gate) = (Tally(), Latch())
        let server = Recorder { _ in
            await gate.opened()
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain(
            [.cancelPrevious(), CoalesceInterceptor(observe: counting(joined))],
            transport: server
        )
        var request = HTTPRequest(url: apiURL)
        let other = Task { [request] in try await chain.send(request) }
        await joined.reached(1)
        request.context.latestKey = "cell"
        let earlier = Task { [request] in try await chain.send(request) }
        await joined.reached(2)
        let later = Task { [request] in try await chain.send(request) }
        await #expect(throws: CancellationError.self) { try await earlier.value }
        await joined.reached(3)
        gate.open()
        #expect(try await other.value.status == 200)
        #expect(try await later.value.status == 200)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: 0..<10)
    func allOfThemAtOnceWithFaultsAndCancellationsEndEachCallOnceAndLeaveNothing(seed: UInt64) async throws {
        let random = RandomSource.seeded(seed)
        let server = Recorder { [clock] request in
            switch random.next() % 10 {
            case 0: throw TransportError(.connectionLost, "Cut off.", request: request)
            case 1: return HTTPResponse(status: 503)
            case 2: try await clock.sleep(for: .seconds(30))
            default: try await clock.sleep(for: .milliseconds(Int(random.next() % 3000)))
            }
            return HTTPResponse(status: 200, body: HTTPBody(request.url.path), url: request.url)
        }
        let (began, ended) = (Tally(), Tally())
        let coalesce = CoalesceInterceptor(observe: { event in
            switch event {
            case .began: began.count()
            case .ended: ended.count()
            case .waiting: break
            }
        })
        let (latest, limit) = (CancelPreviousInterceptor(), LimitConcurrencyInterceptor(5))
        let rate: AnyInterceptor = .rateLimit(50, per: .seconds(1), perHost: true, time: .manual(clock))
        let chain = InterceptorChain(
            [
                latest, .timeout(.seconds(60), time: .manual(clock)), coalesce,
                .retry(.exponential(maxAttempts: 4), time: TimeSource(clock: clock, random: random)),
                .hedge(after: .seconds(1), time: .manual(clock)), rate, limit,
                .circuitBreaker(.failureRate(0.9, within: .seconds(5)), openFor: .seconds(1), time: .manual(clock)),
                .timeout(.seconds(5), time: .manual(clock)),
            ],
            transport: server
        )
        let queue = try JobQueue(seed: seed)
        let calls = queue.enter {
            (0..<300).map { number in
                var request = HTTPRequest(url: URL(string: "https://h-\(number % 3)/\(random.next() % 40)")!)
                if number.isMultiple(of: 5) { request.context.latestKey = random.next() % 10 }
                let call = Task { [request] in (request.url.path, try await chain.send(request)) }
                if random.next().isMultiple(of: 4) { call.cancel() }
                return call
            }
        }
        // Time moves only when no task can go on.
        queue.runAll()
        while let next = clock.nextDeadline {
            queue.enter { clock.advance(to: next) }
            queue.runAll()
        }
        var answered = 0
        for call in calls {
            do {
                let (path, response) = try await call.value
                #expect(response.status == 200 || response.status == 503)
                guard response.status == 200 else { continue }
                #expect(response.body.data == Data(path.utf8))
                answered += 1
            } catch {
                let isExpected = error is CancellationError || error is TransportError || error is LimitError
                #expect(isExpected, "\(error)")
            }
        }
        // A quarter of the calls is cancelled, and most faults are retried.
        #expect(answered > 100)
        #expect(ended.value == began.value)
        #expect(limit.pool.counts == (0, 0, 0))
        #expect(coalesce.coalescer.counts == (0, 0))
        #expect((rate.base as? RateLimitInterceptor)?.limiter.counts.waiting == 0)
        #expect(latest.calls.count == 0)
    }
}
