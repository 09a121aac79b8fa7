import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// A wrong order around shared exchanges, and elements that occur twice or are too strict, in a running chain.
@Suite(.againstHanging) struct LimitHarmTests {
    private let clock = ManualClock()
    private var time: TimeSource { .manual(clock) }

    @Test func aHedgeInAHedgeSendsFourRequests() async throws {
        func requests(_ interceptors: [any Interceptor]) async throws -> Int {
            let server = Recorder { [clock] request in
                try await clock.sleep(for: .seconds(10))
                return HTTPResponse(status: 200, url: request.url)
            }
            let chain = InterceptorChain(interceptors, transport: server)
            _ = try await clock.run { try await chain.get() }
            return server.requests.count
        }
        let hedge: AnyInterceptor = .hedge(after: .milliseconds(300), time: time)
        #expect(try await requests([hedge, hedge]) == 4)
        #expect(try await requests([hedge]) == 2)
        expectFound(.hedgeInsideHedge, wrong: [hedge, hedge], right: [hedge])
    }

    /// A server that answers calls of the API when the gate is open, and other calls at once.
    private func server(_ gate: Latch, _ status: HTTPResponse.Status = 200) -> Recorder {
        Recorder { request in
            if request.url == apiURL { await gate.opened() }
            return HTTPResponse(status: status, url: request.url)
        }
    }

    /// Opens a latch when two calls share an exchange.
    private func coalesce(_ joined: Latch) -> CoalesceInterceptor {
        CoalesceInterceptor { if case .waiting(2) = $0 { joined.open() } }
    }

    @Test(arguments: [true, false]) func callsThatShareAnExchangeHoldAPermitEach(isWrong: Bool) async throws {
        let (gate, joined, queued) = (Latch(), Latch(), Latch())
        let limit = LimitConcurrencyInterceptor(2) { _ in queued.open() }
        let (wrong, right): ([any Interceptor], [any Interceptor]) = (
            [limit, coalesce(joined)], [coalesce(joined), limit]
        )
        let server = server(gate)
        let chain = InterceptorChain(isWrong ? wrong : right, transport: server)
        let calls = (0..<2).map { _ in Task { try await chain.get() } }
        await joined.opened()
        let other = Task { try await chain.get(URL(string: "https://other.example.com/")!) }
        if isWrong {
            // The two calls need one request, and hold two permits.
            await queued.opened()
            #expect(server.requests.map(\.url) == [apiURL])
        } else {
            #expect(try await other.value == 200)
        }
        gate.open()
        for call in calls + [other] { #expect(try await call.value == 200) }
        expectFound(.limitOutsideCoalescing, wrong: wrong, right: right)
    }

    @Test(arguments: [true, false]) func aSharedFailureCountsOnceForEachCallOfABreakerOutside(
        isWrong: Bool
    ) async throws {
        let (gate, joined) = (Latch(), Latch())
        let breaker: AnyInterceptor = .circuitBreaker(.consecutiveFailures(2), time: time)
        let (wrong, right): ([any Interceptor], [any Interceptor]) = (
            [breaker, coalesce(joined)], [coalesce(joined), breaker]
        )
        let server = server(gate, 503)
        let chain = InterceptorChain(isWrong ? wrong : right, transport: server)
        let calls = (0..<2).map { _ in Task { try await chain.get() } }
        await joined.opened()
        gate.open()
        for call in calls { #expect(try await call.value == 503) }
        #expect(server.requests.count == 1)
        if isWrong {
            await #expect(throws: LimitError.self) { try await chain.get() }
        } else {
            #expect(try await chain.get() == 503)
        }
        expectFound(.limitOutsideCoalescing, wrong: wrong, right: right)
    }

    @Test func oneCallWhoseAttemptsFailOpensACircuitForAllOthers() async throws {
        func status(_ failures: Int) async throws -> HTTPResponse.Status {
            let chain = InterceptorChain(
                order(failures),
                transport: Recorder { HTTPResponse(status: $0.url == apiURL ? 503 : 200, url: $0.url) }
            )
            return try await clock.run {
                _ = try? await chain.get()
                return try await chain.get(URL(string: "https://api.example.com/other")!)
            }
        }
        func order(_ failures: Int) -> [any Interceptor] {
            [
                .retry(.constant(.zero, maxAttempts: 3), time: time),
                .circuitBreaker(.consecutiveFailures(failures), time: time),
            ]
        }
        await #expect(throws: LimitError.self) { _ = try await status(3) }
        #expect(try await status(6) == 200)
        expectFound(.breakerOpenedByOneCall, wrong: order(3), right: order(6))
        let finding = try #require(InterceptorChain(order(3), transport: Recorder()).findings.first)
        #expect(finding.message == "circuitBreaker (2) opens after 3 failures, and retry (1) may add 3.")
    }

    @Test func anEnvelopeThatWasTakenOffIsNotThereASecondTime() async throws {
        func order(_ count: Int) -> [any Interceptor] {
            (0..<count).map { _ in .unwrapEnvelope(payload: "data") }
        }
        func status(_ interceptors: [any Interceptor]) async throws -> HTTPResponse.Status {
            let body = HTTPBody(#"{"code":200,"data":{"id":42}}"#)
            let server = Recorder { HTTPResponse(status: 200, body: body, url: $0.url) }
            return try await InterceptorChain(interceptors, transport: server).get()
        }
        let error = await #expect(throws: EnvelopeError.self) { _ = try await status(order(2)) }
        #expect(error?.code == .notAnEnvelope)
        #expect(try await status(order(1)) == 200)
        expectFound(.unwrappedTwice, wrong: order(2), right: order(1))
        // Checking the code alone takes nothing off.
        let checked: [any Interceptor] = [.unwrapEnvelope(payload: "data"), .unwrapEnvelope(payload: "")]
        expectFound(.unwrappedTwice, wrong: order(2), right: checked)
    }

    @Test(arguments: [true, false]) func aFixedAuthorizationKeepsATokenFromBeingSent(isOutside: Bool) async throws {
        func order(_ tokens: TokenStore, _ fixed: [any Interceptor]) -> [any Interceptor] {
            let token: [any Interceptor] = [.bearerAuth(tokens)]
            return [.retryOnUnauthorized(tokens)] + (isOutside ? fixed + token : token + fixed)
        }
        let tokens = TokenStore(.old, origins: [apiOrigin], options: .init(pause: .zero)) { _ in .new }
        let fixed: HTTPFields = [.authorization: "Bearer old"]
        let wrong = order(tokens, [isOutside ? .headers(fixed) : .headers(forced: fixed)])
        #expect(try await InterceptorChain(wrong, transport: TokenServer(accepting: ["new"])).get() == 401)
        let right = order(tokens, [.headers([.accept: "text/plain"])])
        #expect(try await InterceptorChain(right, transport: TokenServer(accepting: ["new"])).get() == 200)
        expectFound(.credentialNeverSent, wrong: wrong, right: right)
    }

    @Test func aDefaultAuthorizationInsideATokenIsNoFault() {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let fallback: [any Interceptor] = [.bearerAuth(tokens), .headers([.authorization: "Basic eDp5"])]
        #expect(InterceptorChain(fallback, transport: Recorder()).findings == [])
        let elsewhere: [any Interceptor] = [
            .when(.origin("https://b.example"), [.headers([.authorization: "Basic eDp5"])]), .bearerAuth(tokens),
        ]
        #expect(InterceptorChain(elsewhere, transport: Recorder()).findings == [])
    }

    @Test func outsideARetryOnlyTheFirstAttemptWaitsForANetwork() async throws {
        func status(_ order: (AnyInterceptor, AnyInterceptor) -> [any Interceptor]) async throws -> HTTPResponse.Status
        {
            let (waiting, attempts) = (Latch(), Tally())
            let network = NetworkPathMonitor(.satisfied) { _ in waiting.open() }
            let server = Recorder { request in
                // The network goes away while the first request is sent.
                if attempts.count() == 1 { network.update(.unsatisfied) }
                guard network.path.isSatisfied == true else { throw TransportError(.offline, "No network.") }
                return HTTPResponse(status: 200, url: request.url)
            }
            let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: network, time: time)
            let chain = InterceptorChain(order(wait, .retry(.constant(.zero), time: time)), transport: server)
            // It comes back when a request waits for it.
            let back = Task {
                await waiting.opened()
                network.update(.satisfied)
            }
            defer { waiting.open() }
            let status = try await chain.get()
            await back.value
            return status
        }
        let error = await #expect(throws: TransportError.self) { _ = try await status { [$0, $1] } }
        #expect(error?.context.attempts.count == 3)
        #expect(try await status { [$1, $0] } == 200)
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: NetworkPathMonitor())
        expectFound(.placement, wrong: [wait, .retry()], right: [.retry(), wait])
    }
}
