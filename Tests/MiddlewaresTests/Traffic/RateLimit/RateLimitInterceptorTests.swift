import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging)
struct RateLimitInterceptorTests {
    private let clock = ManualClock()
    private let line = Tally()

    private func limit(
        _ count: Int = 1,
        burst: Int = 1,
        perHost: Bool = false,
        maxQueued: Int? = nil,
        maxWait: Duration? = nil
    ) -> RateLimitInterceptor {
        let bucket = RateLimitInterceptor.bucket(count, per: .seconds(1), burst: burst)
        let limits = RateLimiter.Limits(bucket: bucket, isPerHost: perHost, maxQueued: maxQueued, maxWait: maxWait)
        return RateLimitInterceptor(limits, time: .manual(clock)) { [line] _ in line.count() }
    }

    /// A transport that records the time of each request.
    private func server() -> (Recorder, Shared<[String]>, Tally) {
        let (log, arrivals) = (Shared<[String]>([]), Tally())
        let transport = Recorder { [clock] request in
            log.change { $0.append("\(request.url.path) at \(clock.now.elapsed.components.seconds)") }
            arrivals.count()
            return HTTPResponse(status: 200, url: request.url)
        }
        return (transport, log, arrivals)
    }

    private func get(
        _ chain: InterceptorChain,
        _ text: String,
        deadline: Deadline? = nil
    ) -> Task<HTTPResponse.Status, any Error> {
        Task {
            var request = HTTPRequest(url: try url(text))
            request.context.deadline = deadline
            return try await chain.send(request).status
        }
    }

    @Test func burstGoesAtOnceAndTheOthersOneByOneInTheOrderInWhichTheyCame() async throws {
        let (transport, log, arrivals) = server()
        let chain = InterceptorChain([limit(burst: 2)], transport: transport)
        var tasks: [Task<HTTPResponse.Status, any Error>] = []
        for number in 1...5 {
            tasks.append(get(chain, "https://h/\(number)"))
            await (number <= 2 ? arrivals : line).reached(number <= 2 ? number : number - 2)
        }
        for number in 3...5 {
            await clock.sleepers(1)
            #expect(clock.pendingSleeps == 1)
            clock.advance(by: .seconds(1))
            await arrivals.reached(number)
        }
        for task in tasks { #expect(try await task.value == 200) }
        #expect(log.value == ["/1 at 0", "/2 at 0", "/3 at 1", "/4 at 2", "/5 at 3"])
    }

    @Test func eachHostHasALimitOfItsOwn() async throws {
        let (transport, _, _) = server()
        let chain = InterceptorChain([limit(perHost: true)], transport: transport)
        #expect(try await get(chain, "https://one/").value == 200)
        #expect(try await get(chain, "https://two/").value == 200)
        #expect(try await get(chain, "https://two:8443/").value == 200)
        let waiting = get(chain, "https://one/")
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await waiting.value == 200)
    }

    @Test func cancelledWaiterGivesItsPlaceBack() async throws {
        let (transport, log, arrivals) = server()
        let limit = limit()
        let chain = InterceptorChain([limit], transport: transport)
        _ = try await get(chain, "https://h/0").value
        var tasks: [Task<HTTPResponse.Status, any Error>] = []
        for number in 1...4 {
            tasks.append(get(chain, "https://h/\(number)"))
            await line.reached(number)
        }
        // The leader, which sleeps, and a waiter behind it.
        for index in [0, 2] {
            tasks[index].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[index].value }
        }
        for _ in 0..<2 {
            await clock.sleepers(1)
            let count = arrivals.value
            clock.advance(by: .seconds(1))
            await arrivals.reached(count + 1)
        }
        for index in [1, 3] { #expect(try await tasks[index].value == 200) }
        #expect(log.value == ["/0 at 0", "/2 at 1", "/4 at 2"])
        #expect(limit.limiter.counts.waiting == 0)
    }

    @Test func leaderThatIsCancelledAsItsTokenIsDueTakesNone() async throws {
        let (transport, log, _) = server()
        let bucket = RateLimitInterceptor.bucket(1, per: .seconds(1), burst: 1)
        let limit = RateLimitInterceptor(
            RateLimiter.Limits(bucket: bucket),
            time: TimeSource(clock: CancellingClock(clock))
        ) { _ in }
        let chain = InterceptorChain([limit], transport: transport)
        _ = try await get(chain, "https://h/0").value
        let leader = get(chain, "https://h/1")
        await #expect(throws: CancellationError.self) { try await leader.value }
        #expect(clock.now.elapsed == .seconds(1))
        #expect(try await get(chain, "https://h/2").value == 200)
        #expect(log.value == ["/0 at 0", "/2 at 1"])
        #expect(limit.limiter.counts.waiting == 0)
    }

    /// A clock that sleeps until the deadline, and cancels the sleeping task as it wakes.
    private struct CancellingClock: Clock {
        let base: ManualClock
        var now: ManualClock.Instant { base.now }
        var minimumResolution: Duration { base.minimumResolution }

        init(_ base: ManualClock) { self.base = base }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            base.advance(to: deadline)
            withUnsafeCurrentTask { $0?.cancel() }
        }
    }

    @Test func fullLineAndTooLongAWaitFailAtOnce() async throws {
        let (transport, _, _) = server()
        let chain = InterceptorChain([limit(maxQueued: 1, maxWait: .seconds(1))], transport: transport)
        _ = try await get(chain, "https://h/0").value
        let waiter = get(chain, "https://h/1")
        await line.reached(1)
        let full = await #expect(throws: LimitError.self) {
            try await get(chain, "https://h/2?api_key=secret-value").value
        }
        #expect(full?.code == .queueFull)
        #expect(full?.wait == nil)
        #expect(full?.description.contains("GET https://h/2?api_key=<redacted>") == true)
        let patient = InterceptorChain([limit(maxWait: .milliseconds(500))], transport: transport)
        _ = try await get(patient, "https://h/0").value
        let late = await #expect(throws: LimitError.self) { try await get(patient, "https://h/1").value }
        #expect(late?.code == .waitTooLong)
        #expect(late?.wait == .seconds(1))
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await waiter.value == 200)
    }

    @Test func turnThatComesAfterTheDeadlineIsNotWaitedFor() async throws {
        let (transport, _, arrivals) = server()
        let limit = limit()
        let chain = InterceptorChain([limit], transport: transport)
        _ = try await get(chain, "https://h/0").value
        let early = get(chain, "https://h/1", deadline: Deadline(after: .milliseconds(999), time: .manual(clock)))
        let error = await #expect(throws: TransportError.self) { try await early.value }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("its turn of rateLimit") == true)
        #expect(arrivals.value == 1)
        #expect(limit.limiter.counts.waiting == 0)
        let inTime = get(chain, "https://h/2", deadline: Deadline(after: .seconds(1), time: .manual(clock)))
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await inTime.value == 200)
    }

    @Test func whoseTurnComesTooLateIsNotTriedAgain() async throws {
        let (transport, _, arrivals) = server()
        let budget = RetryBudget(share: 0, reserve: 10)
        let chain = InterceptorChain(
            [.retry(.constant(.zero, maxAttempts: 5), budget: budget, time: .manual(clock)), limit()],
            transport: transport
        )
        _ = try await get(chain, "https://h/0").value
        let deadline = Deadline(after: .milliseconds(999), time: .manual(clock))
        let error = await #expect(throws: TransportError.self) {
            try await get(chain, "https://h/1", deadline: deadline).value
        }
        #expect(error?.context.attempts.map(\.stop) == [.deadline])
        #expect(arrivals.value == 1)
    }

    @Test func waitingInLineEndsAtTheDeadlineOnAnyClock() async throws {
        let (transport, _, _) = server()
        let limit = limit()
        let chain = InterceptorChain([limit], transport: transport)
        _ = try await get(chain, "https://h/0").value
        let leader = get(chain, "https://h/1")
        await clock.sleepers(1)
        let fast = ManualClock()
        let waiter = get(chain, "https://h/2", deadline: Deadline(after: .seconds(5), time: .manual(fast)))
        await fast.sleepers(1)
        fast.advance(by: .seconds(5))
        let error = await #expect(throws: TransportError.self) { try await waiter.value }
        #expect(error?.code == .timedOut)
        clock.advance(by: .seconds(1))
        #expect(try await leader.value == 200)
        #expect(limit.limiter.counts.waiting == 0)
    }

    @Test func requestOfARefreshDoesNotWaitButItsTokenIsMissingToTheNext() async throws {
        let server = TokenServer(accepting: ["new"])
        let chain = Shared<InterceptorChain?>(nil)
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            _ = try await chain.value?.get(URL(string: "https://api.example.com/login")!)
            return .new
        }
        let limit = limit(burst: 2)
        let all = InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens), limit], transport: server)
        chain.value = all
        // The first attempt takes one token, the log-in takes the other, and the second attempt waits.
        let task = Task { try await all.get() }
        await clock.sleepers(1)
        #expect(server.requests.value.count == 2)
        clock.advance(by: .seconds(1))
        #expect(try await task.value == 200)
        chain.value = nil
    }

    @Test func hostsThatWereAskedOnceAreForgotten() async throws {
        let limit = limit(perHost: true)
        let chain = InterceptorChain([limit], transport: Recorder())
        for number in 0..<1000 {
            _ = try await chain.get(url("https://host-\(number)/"))
            clock.advance(by: .seconds(1))
        }
        #expect(limit.limiter.counts.lines <= 64)
    }

    @Test(arguments: 0..<5)
    func hundredsAtOnceOfWhichHalfAreCancelledKeepTheRateAndEndOnce(seed: UInt64) async throws {
        let (transport, _, arrivals) = server()
        let limit = limit(10, burst: 5)
        let chain = InterceptorChain([limit], transport: transport)
        var random = SeededGenerator(seed: seed)
        let tasks = (0..<300).map { number in
            (get(chain, "https://h/\(number)"), isCancelled: Bool.random(using: &random))
        }
        let ended = Tally()
        let watches = tasks.map { task, _ in
            Task {
                defer { ended.count() }
                return await task.result
            }
        }
        for (task, isCancelled) in tasks where isCancelled { task.cancel() }
        let driver = Task {
            while ended.value < tasks.count, !Task.isCancelled {
                await clock.sleepers(1)
                clock.advance(by: .milliseconds(100))
            }
        }
        for (index, watch) in watches.enumerated() {
            switch await watch.value {
            case .success(let status): #expect(status == 200)
            case .failure(let error): #expect(tasks[index].isCancelled && error is CancellationError)
            }
        }
        driver.cancel()
        await driver.value
        // Each interval adds one token to the initial five.
        #expect(arrivals.value <= 5 + Int(clock.now.elapsed / .milliseconds(100)))
        #expect(limit.limiter.counts.waiting == 0)
    }
}
