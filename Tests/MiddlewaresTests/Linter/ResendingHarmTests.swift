import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// A wrong order of retries, limits and timeouts in a running chain does harm, and the right one does none.
@Suite(.againstHanging) struct ResendingHarmTests {
    private let clock = ManualClock()
    private var time: TimeSource { .manual(clock) }

    private func retry(_ maxAttempts: Int = 3, wait: Duration = .zero) -> AnyInterceptor {
        .retry(.constant(wait, maxAttempts: maxAttempts), time: time)
    }

    private func hedge() -> AnyInterceptor { .hedge(after: .milliseconds(300), time: time) }

    /// The number of requests that a failing server gets for some calls.
    private func requests(_ interceptors: [any Interceptor], calls: Int = 1) async throws -> Int {
        let server = Recorder { _ in HTTPResponse(status: 503) }
        let chain = InterceptorChain(interceptors, transport: server)
        try await clock.run {
            for _ in 0..<calls { _ = try? await chain.get() }
        }
        return server.requests.count
    }

    @Test func attemptsMultiply() async throws {
        #expect(try await requests([retry(), retry()]) == 9)
        #expect(try await requests([retry()]) == 3)
        expectFound(.retryInsideRetry, wrong: [retry(), retry()], right: [retry()])
    }

    @Test func aBreakerOutsideOfARetryOpensLate() async throws {
        let breaker = { [time] in AnyInterceptor.circuitBreaker(.consecutiveFailures(2), time: time) }
        #expect(try await requests([breaker(), retry()], calls: 5) == 6)
        #expect(try await requests([retry(), breaker()], calls: 5) == 2)
        expectFound(.breakerOutsideRetry, wrong: [breaker(), retry()], right: [retry(), breaker()])
    }

    @Test func aHedgeTakesTheWaitOfARetryForALateResponse() async throws {
        #expect(try await requests([hedge(), retry(wait: .seconds(1))]) == 6)
        #expect(try await requests([retry(wait: .seconds(1)), hedge()]) == 3)
        expectFound(.hedgeOutsideRetry, wrong: [hedge(), retry()], right: [retry(), hedge()])
    }

    @Test func aLimitOutsideOfARetryDoesNotLimitTheAttempts() async throws {
        func inTheFirstMinute(_ order: (AnyInterceptor) -> [any Interceptor]) async throws -> Int {
            let clock = ManualClock()
            let times = Notes<Duration>()
            let limit: AnyInterceptor = .rateLimit(1, per: .seconds(60), time: .manual(clock))
            let server = Recorder { _ in
                times.add(clock.now.elapsed)
                return HTTPResponse(status: 503)
            }
            let chain = InterceptorChain(order(limit), transport: server)
            _ = try await clock.run { try await chain.get() }
            return times.all.filter { $0 < .seconds(60) }.count
        }
        let retry = retry()
        #expect(try await inTheFirstMinute { [$0, retry] } == 3)
        #expect(try await inTheFirstMinute { [retry, $0] } == 1)
        let limit: AnyInterceptor = .rateLimit(1, per: .seconds(60))
        expectFound(.limitOutsideRetry, wrong: [limit, retry], right: [retry, limit])
    }

    @Test func aLimitOutsideOfAHedgeDoesNotCountTheSecondAttempt() async throws {
        func mostAtATime(_ interceptors: [any Interceptor]) async throws -> Int {
            let running = Shared((now: 0, most: 0))
            let server = Recorder { [clock] _ in
                running.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                defer { running.change { $0.now -= 1 } }
                try await clock.sleep(for: .seconds(1))
                return HTTPResponse(status: 200)
            }
            let chain = InterceptorChain(interceptors, transport: server)
            _ = try await clock.run { try await chain.get() }
            return running.value.most
        }
        #expect(try await mostAtATime([.limitConcurrency(1), hedge()]) == 2)
        #expect(try await mostAtATime([hedge(), .limitConcurrency(1)]) == 1)
        expectFound(
            .limitOutsideHedge,
            wrong: [.limitConcurrency(1), hedge()],
            right: [hedge(), .limitConcurrency(1)]
        )
    }

    @Test func aStoredResponseWaitsForALimitOutsideOfTheCache() async throws {
        func timeOfAHit(_ order: (AnyInterceptor, AnyInterceptor) -> [any Interceptor]) async throws -> Duration {
            let clock = ManualClock()
            let limit: AnyInterceptor = .rateLimit(1, per: .seconds(60), time: .manual(clock))
            let cache: AnyInterceptor = .cache(.memory(), time: .manual(clock))
            let server = Recorder { request in
                HTTPResponse(status: 200, headers: [.cacheControl: "max-age=600"], url: request.url)
            }
            let chain = InterceptorChain(order(limit, cache), transport: server)
            return try await clock.run {
                _ = try await chain.get()
                _ = try await chain.get()
                #expect(server.requests.count == 1)
                return clock.now.elapsed
            }
        }
        #expect(try await timeOfAHit { [$0, $1] } == .seconds(60))
        #expect(try await timeOfAHit { [$1, $0] } == .zero)
        let (limit, cache): (AnyInterceptor, AnyInterceptor) = (.rateLimit(1, per: .seconds(60)), .cache(.memory()))
        expectFound(.limitOutsideCache, wrong: [limit, cache], right: [cache, limit])
    }

    @Test func aRefreshHoldsThePermitsOfOtherCalls() async throws {
        let (begun, gate, queued) = (Latch(), Latch(), Latch())
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            begun.open()
            await gate.opened()
            return .new
        }
        let limit = LimitConcurrencyInterceptor(1) { if $0 == 1 { queued.open() } }
        let auth: [any Interceptor] = [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        let server = Recorder { request in
            let isOther = request.url.host() == "other.example.com"
            return HTTPResponse(status: isOther || request.headers[.authorization] == "Bearer new" ? 200 : 401)
        }
        let chain = InterceptorChain([limit] + auth, transport: server)
        let rejected = Task { try await chain.get() }
        await begun.opened()
        let other = Task { try await chain.get(URL(string: "https://other.example.com/")!) }
        await queued.opened()
        #expect(server.requests.count == 1)
        gate.open()
        #expect(try await rejected.value == 200)
        #expect(try await other.value == 200)
        expectFound(.permitHeldDuringRenewal, wrong: [limit] + auth, right: auth + [limit])
    }

    @Test func aLimitInsideOfARefreshLetsOtherCallsPass() async throws {
        let (begun, gate) = (Latch(), Latch())
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            begun.open()
            await gate.opened()
            return .new
        }
        let server = Recorder { request in
            let isOther = request.url.host() == "other.example.com"
            return HTTPResponse(status: isOther || request.headers[.authorization] == "Bearer new" ? 200 : 401)
        }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .limitConcurrency(1)],
            transport: server
        )
        let rejected = Task { try await chain.get() }
        await begun.opened()
        #expect(try await chain.get(URL(string: "https://other.example.com/")!) == 200)
        gate.open()
        #expect(try await rejected.value == 200)
    }

    @Test func aTimeoutThatNeverActsLeavesNoTimeForARetry() async throws {
        func status(_ outer: Duration, _ inner: Duration) async throws -> HTTPResponse.Status {
            let clock = ManualClock()
            let attempts = Tally()
            let chain = InterceptorChain(
                order(outer, inner, clock),
                transport: Recorder { _ in
                    if attempts.count() == 1 { try await clock.sleep(for: .seconds(100)) }
                    return HTTPResponse(status: 200)
                }
            )
            return try await clock.run { try await chain.get() }
        }
        func order(_ outer: Duration, _ inner: Duration, _ clock: ManualClock) -> [any Interceptor] {
            [
                .timeout(outer, time: .manual(clock)), .retry(.constant(.zero), time: .manual(clock)),
                .timeout(inner, time: .manual(clock)),
            ]
        }
        await #expect(throws: TransportError.self) { _ = try await status(.seconds(10), .seconds(30)) }
        #expect(try await status(.seconds(30), .seconds(10)) == 200)
        expectFound(
            .timeoutNeverActs,
            wrong: order(.seconds(10), .seconds(30), clock),
            right: order(.seconds(30), .seconds(10), clock)
        )
    }

    @Test func aLimitWithoutALimitLimitsNothing() async throws {
        func mostAtATime(_ limit: AnyInterceptor) async throws -> Int {
            let running = Shared((now: 0, most: 0))
            let clock = ManualClock()
            let chain = InterceptorChain(
                [limit],
                transport: Recorder { _ in
                    running.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    defer { running.change { $0.now -= 1 } }
                    try await clock.sleep(for: .seconds(1))
                    return HTTPResponse(status: 200)
                }
            )
            return try await clock.run {
                try await withThrowingTaskGroup { group in
                    for _ in 0..<5 { group.addTask { try await chain.get() } }
                    for try await _ in group {}
                }
                return running.value.most
            }
        }
        #expect(try await mostAtATime(.limitConcurrency()) == 5)
        #expect(try await mostAtATime(.limitConcurrency(2)) == 2)
        expectFound(.noEffect, wrong: [.limitConcurrency()], right: [.limitConcurrency(2)])
    }
}

/// A wrong order of what reads, stores and logs responses, in a running chain.
@Suite(.againstHanging) struct ResponseHarmTests {
    private let moved: @Sendable (HTTPRequest) -> HTTPResponse = { request in
        request.url.path() == "/users/42"
            ? HTTPResponse(status: 301, headers: [.location: "/people/42"], url: request.url)
            : HTTPResponse(status: 200, url: request.url)
    }

    @Test func aRedirectThatWasJudgedIsNotFollowed() async throws {
        let wrong: [any Interceptor] = [.followRedirects(), .validateStatus()]
        let right: [any Interceptor] = [.validateStatus(), .followRedirects()]
        await #expect(throws: StatusError.self) {
            _ = try await InterceptorChain(wrong, transport: Recorder(moved)).get()
        }
        #expect(try await InterceptorChain(right, transport: Recorder(moved)).get() == 200)
        expectFound(.statusJudgedTooEarly, wrong: wrong, right: right)
    }

    @Test func anErrorThatMayBeStoredIsNot() async throws {
        func requests(_ interceptors: [any Interceptor]) async throws -> Int {
            let server = Recorder { request in
                HTTPResponse(status: 404, headers: [.cacheControl: "max-age=600"], url: request.url)
            }
            let chain = InterceptorChain(interceptors, transport: server)
            for _ in 0..<2 { _ = try? await chain.get() }
            return server.requests.count
        }
        let wrong: [any Interceptor] = [.cache(.memory()), .validateStatus()]
        let right: [any Interceptor] = [.validateStatus(), .cache(.memory())]
        #expect(try await requests(wrong) == 2)
        #expect(try await requests(right) == 1)
        expectFound(.statusJudgedInsideCache, wrong: wrong, right: right)
    }

    @Test func aRevalidationFailsIfARangeRejectsA304InsideTheCache() async throws {
        func second(_ interceptors: [any Interceptor]) async throws -> HTTPResponse.Status {
            let server = Recorder { request in
                let isKnown = request.headers.contains(.ifNoneMatch)
                return HTTPResponse(
                    status: isKnown ? 304 : 200,
                    headers: [.cacheControl: "no-cache", "ETag": "\"1\""],
                    url: request.url
                )
            }
            let chain = InterceptorChain(interceptors, transport: server)
            _ = try await chain.get()
            return try await chain.get()
        }
        let wrong: [any Interceptor] = [.cache(.memory()), .validateStatus(200..<300)]
        let right: [any Interceptor] = [.validateStatus(200..<300), .cache(.memory())]
        await #expect(throws: StatusError.self) { _ = try await second(wrong) }
        #expect(try await second(right) == 200)
        expectFound(.statusJudgedInsideCache, wrong: wrong, right: right)
    }

    @Test func theCookieOfAResponseThatBecomesAnErrorIsNotStored() async throws {
        func cookies(_ order: (AnyInterceptor) -> [any Interceptor]) async throws -> Int {
            let jar = CookieJar()
            let server = Recorder { request in
                HTTPResponse(status: 403, headers: [.setCookie: "csrf=1; Path=/"], url: request.url)
            }
            _ = try? await InterceptorChain(order(.cookies(jar)), transport: server).get()
            return jar.cookies(for: apiURL).count
        }
        #expect(try await cookies { [$0, .validateStatus()] } == 0)
        #expect(try await cookies { [.validateStatus(), $0] } == 1)
        expectFound(
            .cookiesLostInError,
            wrong: [.cookies(), .validateStatus()],
            right: [.validateStatus(), .cookies()]
        )
    }

    @Test func aPasswordIsNotSentAfterA401ThatWasJudged() async throws {
        let digest: AnyInterceptor = .digestAuth(username: "u", password: "p", origins: [apiOrigin])
        await #expect(throws: StatusError.self) {
            _ = try await InterceptorChain([digest, .validateStatus()], transport: DigestServer()).get()
        }
        #expect(try await InterceptorChain([.validateStatus(), digest], transport: DigestServer()).get() == 200)
    }

    @Test func aHitHasNoEnvelopeIfItWasOpenedInsideTheCache() async throws {
        let server: @Sendable (HTTPRequest) -> HTTPResponse = { request in
            HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=600", .contentType: "application/json"],
                body: HTTPBody(#"{"success":true,"data":[1]}"#),
                url: request.url
            )
        }
        func envelopes(_ interceptors: [any Interceptor]) async throws -> [Bool] {
            let chain = InterceptorChain(interceptors, transport: Recorder(server))
            var envelopes: [Bool] = []
            for _ in 0..<2 {
                let response = try await chain.send(HTTPRequest(url: apiURL))
                envelopes.append(response.context.envelope != nil)
            }
            return envelopes
        }
        let unwrap: AnyInterceptor = .unwrapEnvelope(payload: "data", success: .flag("success"), keepsEnvelope: true)
        #expect(try await envelopes([.cache(.memory()), unwrap]) == [true, false])
        #expect(try await envelopes([unwrap, .cache(.memory())]) == [true, true])
        expectFound(
            .contentChangedInsideCache,
            wrong: [.cache(.memory()), unwrap],
            right: [unwrap, .cache(.memory())]
        )
    }

    @Test func anOuterCacheAnswersAfterTheInnerOneWasCleared() async throws {
        let (outer, inner) = (MemoryCacheStore(), MemoryCacheStore())
        func sends(_ interceptors: [any Interceptor]) async throws -> Int {
            let server = Recorder { request in
                HTTPResponse(status: 200, headers: [.cacheControl: "max-age=600"], url: request.url)
            }
            let chain = InterceptorChain(interceptors, transport: server)
            _ = try await chain.get()
            try await inner.removeAll()
            _ = try await chain.get()
            return server.requests.count
        }
        #expect(try await sends([.cache(outer), .cache(inner)]) == 1)
        #expect(try await sends([.cache(inner)]) == 2)
        expectFound(.cacheInsideCache, wrong: [.cache(outer), .cache(inner)], right: [.cache(inner)])
    }

    @Test func aCacheOutsideOfRedirectsKeepsNothingBehindThem() async throws {
        func sends(_ interceptors: [any Interceptor]) async throws -> Int {
            let server = Recorder { request in
                request.url.path == "/new"
                    ? HTTPResponse(status: 200, headers: [.cacheControl: "max-age=600"], url: request.url)
                    : HTTPResponse(status: 302, headers: [.location: "/new"], url: request.url)
            }
            let chain = InterceptorChain(interceptors, transport: server)
            for _ in 0..<3 { _ = try await chain.get() }
            return server.requests.count
        }
        #expect(try await sends([.cache(.memory()), .followRedirects()]) == 6)
        #expect(try await sends([.followRedirects(), .cache(.memory())]) == 4)
        expectFound(
            .cacheOutsideRedirects,
            wrong: [.cache(.memory()), .followRedirects()],
            right: [.followRedirects(), .cache(.memory())]
        )
    }

    @Test func twoLoggersSideBySideSayTheSame() async throws {
        let (one, other) = (Notes<String>(), Notes<String>())
        let time = TimeSource.manual(ManualClock())
        func logging(_ notes: Notes<String>) -> AnyInterceptor {
            .logging(to: LogSink { notes.add($0.text) }, time: time)
        }
        let failures = Tally()
        let server = Recorder { _ in HTTPResponse(status: failures.count() % 2 == 1 ? 503 : 200) }
        let retry: AnyInterceptor = .retry(.constant(.zero))
        _ = try await InterceptorChain([logging(one), logging(other), retry], transport: server).get()
        #expect(one.all == other.all)
        let (outer, inner) = (Notes<String>(), Notes<String>())
        _ = try await InterceptorChain([logging(outer), retry, logging(inner)], transport: server).get()
        #expect((outer.all.count, inner.all.count) == (2, 4))
        expectFound(
            .loggedTwice,
            wrong: [logging(one), logging(other)],
            right: [logging(outer), retry, logging(inner)]
        )
        // The outer log alone doesn't show that there were two attempts.
        expectFound(.attemptsNotLogged, wrong: [logging(outer), retry], right: [retry, logging(inner)])
    }

    @Test func aMovedResourceIsNotFound() async throws {
        #expect(try await InterceptorChain([.retry()], transport: Recorder(moved)).get() == 301)
        #expect(try await InterceptorChain([.followRedirects(), .retry()], transport: Recorder(moved)).get() == 200)
        expectFound(.redirectsNotFollowed, wrong: [.retry()], right: [.followRedirects(), .retry()])
    }
}
