import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// Gives the answers in order, then repeats the last one.
func answering(_ answers: [Result<HTTPResponse, any Error>]) -> Recorder {
    let tally = Tally()
    return Recorder { _ in try answers[min(tally.count(), answers.count) - 1].get() }
}

@Suite(.againstHanging)
struct RetryInterceptorTests {
    private let clock = ManualClock()
    private let ok: Result<HTTPResponse, any Error> = .success(HTTPResponse(status: 200))
    private let busy: Result<HTTPResponse, any Error> = .success(HTTPResponse(status: 503))
    private let lost: Result<HTTPResponse, any Error> = .failure(TransportError(.connectionLost, "It is gone."))

    private func chain(_ interceptor: AnyInterceptor, _ transport: any Transport) -> InterceptorChain {
        InterceptorChain([interceptor], transport: transport)
    }

    @Test func numberIsThatOfTheAttempts() async throws {
        let policy = RetryPolicy.exponential(maxAttempts: 3)
        #expect(policy.maxAttempts == 3)
        for (retry, attempts): (AnyInterceptor, Int) in [
            (.retry(maxAttempts: 3, time: .manual(clock)), 3), (.retry(maxAttempts: 1, time: .manual(clock)), 1),
            (.retry(maxAttempts: 0), 1), (.retry(maxAttempts: -1), 1),
        ] {
            let server = answering([busy])
            let task = Task { try await chain(retry, server).send(HTTPRequest(url: apiURL)) }
            for _ in 1..<attempts {
                await clock.sleepers(1)
                clock.advance(by: .seconds(20))
            }
            #expect(try await task.value.status == 503)
            #expect(server.requests.count == attempts)
        }
    }

    @Test func goodFirstAnswerCostsNothing() async throws {
        let transport = Recorder()
        let response = try await chain(.retry(time: .manual(clock)), transport).send(HTTPRequest(url: apiURL))
        #expect(response.context.isEmpty)
        #expect(transport.requests.count == 1)
    }

    @Test func waitsGrowOnTheClockUntilAnAnswerIsGood() async throws {
        let transport = answering([busy, lost, busy, ok])
        let policy = RetryPolicy.custom(maxAttempts: 4) { attempt, _ in .seconds(1 << (attempt - 1)) }
        let task = Task { [clock] in
            try await chain(.retry(policy, time: .manual(clock)), transport).send(HTTPRequest(url: apiURL))
        }
        for wait in [1, 2, 4] {
            await clock.sleepers(1)
            #expect(clock.nextDeadline == clock.now.advanced(by: .seconds(wait)))
            clock.advance(by: .seconds(wait))
            await clock.noSleepers()
        }
        let response = try await task.value
        #expect(response.status == 200)
        let attempts = response.context.attempts
        #expect(attempts.map(\.number) == [1, 2, 3, 4])
        #expect(attempts.map(\.status) == [503, nil, 503, 200])
        #expect(attempts.map(\.wait) == [.seconds(1), .seconds(2), .seconds(4), nil])
        #expect((attempts[1].error as? TransportError)?.code == .connectionLost)
        #expect(attempts.last?.stop == nil)
        #expect("\(attempts[0])" == "attempt 1: 503 Service Unavailable, next after 1.0 seconds")
        #expect("\(attempts[1])" == "attempt 2: TransportError.connectionLost, next after 2.0 seconds")
    }

    @Test func lastResponseIsTheAnswerAndSaysWhyThereWasNoOther() async throws {
        let transport = answering([busy])
        let response = try await chain(.retry(.constant(.zero, maxAttempts: 3)), transport).send(
            HTTPRequest(url: apiURL)
        )
        #expect(response.status == 503)
        #expect(transport.requests.count == 3)
        #expect(response.context.attempts.map(\.stop) == [nil, nil, .attemptsUsedUp])
    }

    @Test func lastErrorKeepsItsTypeAndCarriesTheAttempts() async throws {
        let transport = answering([busy, lost])
        let error = await #expect(throws: TransportError.self) {
            try await chain(.retry(.constant(.zero, maxAttempts: 2)), transport).send(HTTPRequest(url: apiURL))
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.context.attempts.map(\.status) == [503, nil])
        #expect(error?.context.attempts.last?.stop == .attemptsUsedUp)
    }

    @Test func statusErrorsCarryTheAttemptsToo() async throws {
        let chain = InterceptorChain(
            [.retry(.constant(.zero, condition: .error(StatusError.self))), .validateStatus()],
            transport: answering([busy])
        )
        let error = await #expect(throws: StatusError.self) { try await chain.send(HTTPRequest(url: apiURL)) }
        #expect(error?.context.attempts.count == 3)
    }

    @Test func errorsOfOtherMiddlewaresCarryTheAttemptsToo() async throws {
        let redirects = Tally()
        let transport = Recorder { _ in redirects.count() == 1 ? HTTPResponse(status: 503) : redirect(302, "https://") }
        let chain = InterceptorChain([.retry(.constant(.zero)), .followRedirects()], transport: transport)
        let error = await #expect(throws: RedirectError.self) { try await chain.send(HTTPRequest(url: apiURL)) }
        #expect(error?.context.attempts.count == 2)
        let tokens = TokenStore(.init("")) { _ in throw Refused() }
        let refused = await #expect(throws: AuthenticationError.self) {
            try await InterceptorChain(
                [.retry(.constant(.zero, condition: .error(AuthenticationError.self))), .bearerAuth(tokens)],
                transport: transport
            ).send(HTTPRequest(url: apiURL))
        }
        #expect(refused?.context.attempts.count == 3)
    }

    @Test func errorsWithoutAContextAreThrownAsTheyAre() async throws {
        let transport = answering([.failure(Refused())])
        await #expect(throws: Refused.self) {
            try await chain(.retry(.constant(.zero, condition: .error(Refused.self))), transport)
                .send(HTTPRequest(url: apiURL))
        }
        #expect(transport.requests.count == 3)
    }

    @Test func bodiesOfResponsesThrownAwayAreDiscardedBeforeTheWait() async throws {
        let discarded = Tally()
        let transport = Recorder { _ in
            HTTPResponse(status: 503, body: .oneShot(Chunks(["x"]), onDiscard: { discarded.count() }))
        }
        let task = Task { [clock] in
            try await chain(.retry(.constant(.seconds(1), maxAttempts: 2), time: .manual(clock)), transport)
                .send(HTTPRequest(url: apiURL))
        }
        await clock.sleepers(1)
        #expect(discarded.value == 1)
        clock.advance(by: .seconds(1))
        let response = try await task.value
        #expect(discarded.value == 1)
        #expect(response.body.isReadable)
    }

    @Test func cancellingDuringABackoffReturnsAtOnce() async throws {
        let transport = answering([busy])
        let task = Task { [clock] in
            try await chain(.retry(.constant(.seconds(3_600)), time: .manual(clock)), transport).send(
                HTTPRequest(url: apiURL)
            )
        }
        await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func cancellationIsNeverRetriedNorTurnedIntoANetworkError() async throws {
        let transport = Recorder { _ in
            withUnsafeCurrentTask { $0?.cancel() }
            throw TransportError(.connectionLost, "It was cancelled.")
        }
        await #expect(throws: CancellationError.self) {
            try await chain(.retry(.constant(.zero)), transport).send(HTTPRequest(url: apiURL))
        }
        #expect(transport.requests.count == 1)
        let cancelling = answering([.failure(CancellationError())])
        await #expect(throws: CancellationError.self) {
            try await chain(.retry(.constant(.zero)), cancelling).send(HTTPRequest(url: apiURL))
        }
        #expect(cancelling.requests.count == 1)
    }

    @Test func callCancelledDuringA503WithoutAWaitMakesNoOtherAttempt() async throws {
        let transport = Recorder { _ in
            withUnsafeCurrentTask { $0?.cancel() }
            return HTTPResponse(status: 503, headers: [.retryAfter: "0"])
        }
        let task = Task { [clock] in
            try await chain(.retry(.constant(.zero, maxAttempts: 3), time: .manual(clock)), transport)
                .send(HTTPRequest(url: apiURL))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
    }

    @Test func oneShotBodyIsNeverResentAndTheAnswerSaysSo() async throws {
        let transport = Recorder { request in
            let body = try await request.body.collect(upTo: 10)
            #expect(body == Data("x".utf8))
            return HTTPResponse(status: 503)
        }
        let request = HTTPRequest(method: .put, url: apiURL, body: .oneShot(Chunks(["x"])))
        let response = try await chain(.retry(.constant(.zero)), transport).send(request)
        #expect(response.status == 503)
        #expect(response.context.attempts.map(\.stop) == [.bodyNotReplayable])
        #expect(transport.requests.count == 1)
    }

    @Test func restartableBodyIsSentWholeEachTime() async throws {
        let bodies = Shared<[Data]>([])
        let transport = Recorder { request in
            let body = try await request.body.collect(upTo: 10)
            bodies.change { $0.append(body) }
            return HTTPResponse(status: 503)
        }
        let request = HTTPRequest(method: .put, url: apiURL, body: .restartable { Chunks(["a", "b"]) })
        _ = try await chain(.retry(.constant(.zero)), transport).send(request)
        #expect(bodies.value == Array(repeating: Data("ab".utf8), count: 3))
    }

    @Test func requestIsSentAgainAsItCameNotAsItWasChangedInside() async throws {
        let transport = answering([busy, ok])
        let appending: AnyInterceptor = .intercept { request, next in
            var request = request
            request.headers.append("X-A", "1")
            return try await next(request)
        }
        let chain = InterceptorChain([.retry(.constant(.zero)), appending], transport: transport)
        _ = try await chain.send(HTTPRequest(url: apiURL))
        #expect(transport.requests.map { $0.headers[values: "X-A"] } == [["1"], ["1"]])
    }

    @Test func idempotencyKeyIsMadeOnceForAllAttempts() async throws {
        let transport = answering([lost, busy, ok])
        let keys = Tally()
        let retry: AnyInterceptor = .retry(.constant(.zero), idempotencyKey: { "key-\(keys.count())" })
        let chain = chain(retry, transport)
        _ = try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "x"))
        _ = try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "x"))
        _ = try await chain.send(HTTPRequest(method: .post, url: apiURL, headers: [.idempotencyKey: "own"]))
        _ = try await chain.send(HTTPRequest(url: apiURL))
        #expect(
            transport.requests.map { $0.headers[.idempotencyKey] } == [
                "key-1", "key-1", "key-1", "key-2", "own", nil,
            ]
        )
    }

    @Test func aCallThatMayNotGetAKeyGetsNone() async throws {
        let transport = answering([lost, ok])
        let chain = chain(.retry(.constant(.zero), idempotencyKey: { "key" }), transport)
        var request = HTTPRequest(method: .post, url: apiURL, body: "x")
        request.context.callShape.mayGetIdempotencyKey = false
        await #expect(throws: TransportError.self) { try await chain.send(request) }
        #expect(transport.requests.map { $0.headers[.idempotencyKey] } == [nil])
    }

    @Test func budgetIsSharedAndKeepsAnOutageFromBeingMultiplied() async throws {
        let transport = answering([busy])
        let budget = RetryBudget(share: 0.2, reserve: 4)
        let chains = (0..<2).map { _ in
            chain(.retry(.constant(.zero, maxAttempts: 3), budget: budget), transport)
        }
        var stops: Set<RetryStop> = []
        for number in 0..<100 {
            let response = try await chains[number % 2].send(HTTPRequest(url: apiURL))
            if let stop = response.context.attempts.last?.stop { stops.insert(stop) }
        }
        #expect(transport.requests.count == 100 + 4 + 20)
        #expect(stops == [.attemptsUsedUp, .budgetUsedUp])
    }

    @Test func deadlineIsNeverWaitedBeyond() async throws {
        for (left, requests, stop) in [(Duration.seconds(5), 2, RetryStop.attemptsUsedUp), (.seconds(3), 1, .deadline)]
        {
            let clock = ManualClock()
            let transport = answering([busy])
            var request = HTTPRequest(url: apiURL)
            request.context.deadline = Deadline(after: left, time: .manual(clock))
            let task = Task { [request] in
                try await chain(.retry(.constant(.seconds(3), maxAttempts: 2), time: .manual(clock)), transport).send(
                    request
                )
            }
            if requests == 2 {
                await clock.sleepers(1)
                clock.advance(by: .seconds(3))
            }
            #expect(try await task.value.context.attempts.last?.stop == stop)
            #expect(transport.requests.count == requests)
        }
    }

    @Test func retryAfterAsADateIsComparedWithTheInjectedClock() async throws {
        let asked = HTTPResponse(status: 429, headers: [.retryAfter: "Sun, 06 Nov 1994 08:49:47 GMT"])
        let transport = answering([.success(asked), ok])
        let retry: AnyInterceptor = .retry(
            .constant(.zero),
            time: TimeSource(clock: clock, now: { Date(timeIntervalSince1970: 784_111_777) })
        )
        let task = Task { try await chain(retry, transport).send(HTTPRequest(method: .post, url: apiURL)) }
        await clock.sleepers(1)
        #expect(clock.nextDeadline?.elapsed == .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(try await task.value.status == 200)
    }

    @Test func jitterComesFromTheInjectedSource() async throws {
        let expected = RandomSource.seeded(9)
        let transport = answering([busy, ok])
        let retry: AnyInterceptor = .retry(
            .exponential(base: .seconds(8)),
            time: TimeSource(clock: clock, random: .seeded(9))
        )
        let task = Task { try await chain(retry, transport).send(HTTPRequest(url: apiURL)) }
        await clock.sleepers(1)
        #expect(clock.nextDeadline?.elapsed == .seconds(8 * expected.unit()))
        clock.advance(by: .seconds(8))
        #expect(try await task.value.status == 200)
    }

    @Test func attemptsShowNoSecret() async throws {
        let secret = TransportError(.timedOut, "hunter2")
        let transport = answering([.failure(secret), ok])
        let response = try await chain(.retry(.constant(.zero)), transport).send(HTTPRequest(url: apiURL))
        var dumped = ""
        dump(response.context.attempts, to: &dumped)
        for text in ["\(response.context.attempts)", dumped] { #expect(!text.contains("hunter2")) }
    }
}
