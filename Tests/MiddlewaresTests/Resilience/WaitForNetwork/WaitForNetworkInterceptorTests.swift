import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct WaitForNetworkInterceptorTests {
    private let clock = ManualClock()
    private let network: NetworkPathMonitor
    /// Counts the requests that start to wait.
    private let waiting = Tally()
    private let sent = Shared<[String]>([])

    init() { network = NetworkPathMonitor(.unsatisfied) { [waiting] _ in waiting.count() } }

    private func chain(_ before: [any Interceptor] = [], upTo limit: Duration = .seconds(30)) -> InterceptorChain {
        let transport = Recorder { [clock, sent] request in
            sent.change { $0.append("\(request.url.path) at \(clock.now.elapsed.components.seconds)") }
            return HTTPResponse(status: 200, url: request.url)
        }
        let wait: AnyInterceptor = .waitForNetwork(upTo: limit, monitor: network, time: .manual(clock))
        return InterceptorChain(before + [wait], transport: transport)
    }

    private func get(
        _ chain: InterceptorChain,
        _ text: String = "https://h/",
        context: HTTPContext = HTTPContext()
    ) -> Task<HTTPResponse, any Error> {
        Task {
            var request = HTTPRequest(url: try url(text))
            request.context = context
            return try await chain.send(request)
        }
    }

    @Test(arguments: [NetworkPath.satisfied, .unknown, NetworkPath(isSatisfied: true, isExpensive: true)])
    func nothingWaitsWithANetworkOrAnUnknownPath(path: NetworkPath) async throws {
        network.update(path)
        let response = try await get(chain()).value
        #expect(response.context.networkWait == nil)
        #expect(waiting.value == 0)
    }

    @Test func aRequestWaitsUntilThereIsANetwork() async throws {
        let call = get(chain())
        await clock.sleepers(1)
        clock.advance(by: .seconds(7))
        #expect(sent.value == [])
        network.update(.satisfied)
        #expect(try await call.value.context.networkWait == .seconds(7))
        #expect(sent.value == ["/ at 7"])
        #expect(clock.pendingSleeps == 0)
    }

    @Test func aRequestIsSentWithoutANetworkWhenTheTimeIsUp() async throws {
        let call = get(chain())
        await clock.sleepers(1)
        clock.advance(by: .seconds(30))
        #expect(try await call.value.context.networkWait == .seconds(30))
        #expect(sent.value == ["/ at 30"])
        #expect(network.waiting == 0)
    }

    @Test func aNetworkWakesAllWaitersAtOnce() async throws {
        let chain = chain()
        let calls = (1...100).map { get(chain, "https://h/\($0)") }
        await clock.sleepers(100)
        network.update(.satisfied)
        for call in calls { #expect(try await call.value.status == 200) }
        #expect(sent.value.count == 100)
        #expect(network.waiting == 0)
    }

    @Test func aPathThatIsThereForAMomentIsEnough() async throws {
        let call = get(chain())
        await clock.sleepers(1)
        for _ in 1...10 {
            network.update(.satisfied)
            network.update(.unsatisfied)
        }
        #expect(try await call.value.status == 200)
        #expect(clock.now.elapsed == .zero)
    }

    @Test func aCancelledRequestStopsWaitingAtOnceAndTheOthersGoOn() async throws {
        let chain = chain()
        let (cancelled, other) = (get(chain, "https://h/1"), get(chain, "https://h/2"))
        await clock.sleepers(2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(network.waiting == 1)
        network.update(.satisfied)
        #expect(try await other.value.status == 200)
        #expect(sent.value == ["/2 at 0"])
    }

    @Test func aRequestCancelledBeforeItWaitsIsNotSent() async throws {
        let chain = chain()
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await chain.send(HTTPRequest(url: try url("https://h/")))
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(sent.value == [])
        #expect(network.waiting == 0)
    }

    @Test func aWrongPathFailsNoCallAtItsDeadline() async throws {
        let call = get(chain([.timeout(.seconds(10), time: .manual(clock))]))
        await clock.sleepers(2)
        clock.advance(by: .seconds(5))
        #expect(try await call.value.context.networkWait == .seconds(5))
        #expect(sent.value == ["/ at 5"])
    }

    @Test func aCallersDeadlineShortensTheWait() async throws {
        let call = get(chain(), context: .with(\.deadline, Deadline(after: .seconds(4), time: .manual(clock))))
        await clock.sleepers(1)
        #expect(clock.deadlines.map(\.elapsed) == [.seconds(2)])
        clock.advance(by: .seconds(2))
        _ = try await call.value
        // A deadline that has passed is for the transport to judge.
        let late = Deadline(after: .zero, time: .manual(clock))
        #expect(try await get(chain(), context: .with(\.deadline, late)).value.context.networkWait == nil)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func aLimitOfNoTimeNeverWaits(limit: Duration) async throws {
        #expect(try await get(chain(upTo: limit)).value.context.networkWait == nil)
        #expect(waiting.value == 0)
    }

    @Test func anExcludedNetworkIsWaitedOn() async throws {
        network.update(NetworkPath(isSatisfied: true, isExpensive: true))
        let chain = chain()
        let quiet = get(chain, "https://h/1", context: .with(\.network, [.notConstrained, .notExpensive]))
        await clock.sleepers(1)
        _ = try await get(chain, "https://h/2").value
        network.update(NetworkPath(isSatisfied: true, isConstrained: true))
        #expect(network.waiting == 1)
        network.update(.satisfied)
        _ = try await quiet.value
        #expect(sent.value == ["/2 at 0", "/1 at 0"])
    }

    @Test func aRequestToTheMachineItselfNeverWaits() async throws {
        let response = try await clock.run(failingWhenStuck: true) {
            try await chain().send(HTTPRequest(url: try url("http://127.0.0.1:8080/")))
        }
        #expect(response.context.networkWait == nil)
        #expect(waiting.value == 0)
    }

    @Test func aRequestThatIsNeverSentDoesNotWait() async throws {
        for before in [[], [.cache(.memory(), time: .manual(clock))]] as [[AnyInterceptor]] {
            let response = try await clock.run(failingWhenStuck: true) {
                let offline = HTTPContext.with(\.cacheMode, .offline)
                return try await chain(before).send(HTTPRequest(url: try url("https://h/"), context: offline))
            }
            #expect(response.status == (before.isEmpty ? 200 : 504))
        }
        #expect(waiting.value == 0)
        #expect(clock.now.elapsed == .zero)
    }

    @Test func aStoredResponseInFrontIsServedWithoutANetwork() async throws {
        let fresh = InterceptorChain(
            [
                .cache(.memory(), time: .manual(clock)),
                .waitForNetwork(upTo: .seconds(30), monitor: network, time: .manual(clock)),
            ],
            transport: Recorder { HTTPResponse(status: 200, headers: [.cacheControl: "max-age=60"], url: $0.url) }
        )
        network.update(.satisfied)
        _ = try await get(fresh).value
        network.update(.unsatisfied)
        #expect(try await get(fresh).value.context.cacheOutcome?.result == .hit)
        #expect(waiting.value == 0)
    }

    @Test func insideARetryEachAttemptWaits() async throws {
        let attempts = Tally()
        let transport = Recorder { [network] request in
            // The network goes away while the request is sent.
            network.update(.unsatisfied)
            if attempts.count() < 3 { throw TransportError(.connectionLost, "It is gone.", request: request) }
            return HTTPResponse(status: 200, url: request.url)
        }
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: network, time: .manual(clock))
        let retry: AnyInterceptor = .retry(.constant(.zero, maxAttempts: 3), time: .manual(clock))
        let inside = get(InterceptorChain([retry, wait], transport: transport))
        for attempt in 1...3 {
            await waiting.reached(attempt)
            network.update(.satisfied)
        }
        #expect(try await inside.value.context.attempts.count == 3)
        #expect(waiting.value == 3)
    }

    @Test func outsideARetryACallWaitsOnce() async throws {
        let transport = Recorder { throw TransportError(.offline, "There is no network.", request: $0) }
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: network, time: .manual(clock))
        let retry: AnyInterceptor = .retry(.constant(.zero, maxAttempts: 3), time: .manual(clock))
        let call = get(InterceptorChain([wait, retry], transport: transport))
        await clock.sleepers(1)
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: TransportError.self) { try await call.value }
        #expect(error?.context.attempts.count == 3)
        #expect(error?.context.networkWait == .seconds(30))
        #expect(waiting.value == 1)
        let text = "Sent after 30 s without a network that the request may use, as far as the system knows."
        #expect(error?.description.contains(text) == true)
    }

    @Test func theErrorOfATimeoutTellsTheWait() async throws {
        let (sending, stalled) = (Latch(), Gate())
        let transport = Recorder { request in
            sending.open()
            await stalled.opened()
            throw CancellationError()
        }
        let chain = InterceptorChain(
            [
                .timeout(.seconds(10), time: .manual(clock)),
                .waitForNetwork(upTo: .seconds(3), monitor: network, time: .manual(clock)),
            ],
            transport: transport
        )
        let call = get(chain)
        await clock.sleepers(2)
        clock.advance(by: .seconds(3))
        await sending.opened()
        clock.advance(by: .seconds(7))
        let error = await #expect(throws: TransportError.self) { try await call.value }
        #expect(error?.code == .timedOut)
        #expect(error?.context.networkWait == .seconds(3))
    }

    @Test func anErrorOfAnotherTypeComesThroughUnchanged() async throws {
        struct Own: Error, Equatable { let number = 7 }
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: network, time: .manual(clock))
        let call = get(InterceptorChain([wait], transport: Recorder { _ in throw Own() }))
        await clock.sleepers(1)
        network.update(.satisfied)
        await #expect(throws: Own()) { try await call.value }
    }

    @Test func waitsInARowAreAddedUp() async throws {
        let call = get(chain([.waitForNetwork(upTo: .seconds(3), monitor: network, time: .manual(clock))]))
        for seconds in [3, 30] {
            await clock.sleepers(1)
            clock.advance(by: .seconds(seconds))
        }
        #expect(try await call.value.context.networkWait == .seconds(33))
    }

    /// The outer one gave up before the inner one found a network.
    @Test func theLastOfSeveralWaitsSaysWhetherThereWasANetwork() async throws {
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: network, time: .manual(clock))
        let outer: AnyInterceptor = .waitForNetwork(upTo: .seconds(3), monitor: network, time: .manual(clock))
        let failure = TransportError(.connectionLost, "Reset.")
        let call = get(InterceptorChain([outer, wait], transport: Recorder { _ in throw failure }))
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        network.update(.satisfied)
        let error = await #expect(throws: TransportError.self) { try await call.value }
        #expect(error?.description.contains("Sent after a wait of 8.00 s for a network.") == true)
    }

    // MARK: The first report

    private func starting() -> (NetworkPathMonitor, InterceptorChain) {
        let monitor = NetworkPathMonitor(.unknown, isStarting: true) { _ in }
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: monitor, time: .manual(clock))
        return (monitor, InterceptorChain([wait], transport: chain().transport))
    }

    @Test func anAppThatStartsWithoutANetworkWaitsForOne() async throws {
        let (monitor, chain) = starting()
        let call = get(chain)
        await clock.sleepers(1)
        monitor.update(.unsatisfied)
        clock.advance(by: .seconds(1))
        await clock.sleepers(1)
        clock.advance(by: .seconds(6))
        #expect(sent.value == [])
        monitor.update(.satisfied)
        #expect(try await call.value.context.networkWait == .seconds(7))
        #expect(sent.value == ["/ at 7"])
    }

    @Test func theFirstReportOfANetworkSendsTheFirstRequestsAtOnce() async throws {
        let (monitor, chain) = starting()
        let calls = (1...3).map { get(chain, "https://h/\($0)") }
        await clock.sleepers(3)
        monitor.update(.satisfied)
        for call in calls { #expect(try await call.value.context.networkWait == .zero) }
        #expect(clock.pendingSleeps == 0)
    }

    @Test func aFirstReportThatNeverComesDelaysRequestsByASecondOnce() async throws {
        let (monitor, chain) = starting()
        let call = get(chain)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await call.value.context.networkWait == .seconds(1))
        #expect(try await get(chain).value.context.networkWait == nil)
        #expect(monitor.path == .unknown)
    }

    @Test func aShortLimitAlsoHoldsForTheFirstReport() async throws {
        let monitor = NetworkPathMonitor(.unknown, isStarting: true) { _ in }
        let wait: AnyInterceptor = .waitForNetwork(upTo: .milliseconds(10), monitor: monitor, time: .manual(clock))
        let call = get(InterceptorChain([wait], transport: chain().transport))
        await clock.sleepers(1)
        monitor.update(.unsatisfied)
        clock.advance(by: .milliseconds(10))
        #expect(try await call.value.context.networkWait == .milliseconds(10))
    }

    @Test func aRequestCancelledBeforeTheFirstReportEndsAtOnce() async throws {
        let (monitor, chain) = starting()
        let (cancelled, other) = (get(chain, "https://h/1"), get(chain, "https://h/2"))
        await clock.sleepers(2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(monitor.isStarting)
        monitor.update(.satisfied)
        #expect(try await other.value.status == 200)
    }

    @Test func aRefreshThroughTheSameClientWaitsToo() async throws {
        let origin = try #require(Origin(url("https://h/")))
        let expired = TokenStore.Token("old", expiresAt: Date(timeIntervalSince1970: 0))
        let tokens = TokenStore(expired, origins: [origin]) { _, client in
            let context: HTTPContext = .with(\.authorization, .omitted)
            _ = try await client.send(HTTPRequest(method: .post, url: url("https://h/token"), context: context))
            return TokenStore.Token("new")
        }
        let client = Client(
            baseURL: try url("https://h/"),
            interceptors: chain([.retryOnUnauthorized(tokens), .bearerAuth(tokens)]).interceptors,
            transport: chain().transport
        )
        let call = Task { try await client.send(HTTPRequest(url: try url("https://h/films"))) }
        await clock.sleepers(1)
        #expect(sent.value == [])
        network.update(.satisfied)
        #expect(try await call.value.status == 200)
        #expect(sent.value == ["/token at 0", "/films at 0"])
    }
}

@Suite(.againstHanging) struct WaitForNetworkOrderTests {
    private let network = NetworkPathMonitor(.satisfied)

    private func findings(_ interceptors: [any Interceptor]) -> [ChainFinding] {
        InterceptorChain(interceptors, transport: StubTransport()).findings
    }

    @Test func theDocumentedOrderHasNoFinding() {
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: network)
        #expect(findings([.cache(.memory()), wait, .limitConcurrency(32), .logging()]) == [])
        #expect(findings([.cache(.memory()), .retry(maxAttempts: 3), wait, .rateLimit(10, per: .seconds(1))]) == [])
    }

    @Test func aPlaceInWhichAWaitDoesHarmIsFound() {
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(30), monitor: network)
        let wrong: [(any Interceptor, isInside: Bool, String)] = [
            (.cache(.memory()), false, "stored response"),
            (.retry(maxAttempts: 3), false, "first attempt"),
            (.limitConcurrency(32), true, "permit"),
            (.rateLimit(10, per: .seconds(1)), true, "permit"),
            (.circuitBreaker(), true, "permit"),
            (.hedge(after: .seconds(1)), true, "sent twice"),
            (.sign(.hmacSHA256(SigningKey("secret")), identifiesCaller: false), true, "signature"),
        ]
        for (other, isInside, harm) in wrong {
            let findings = findings(isInside ? [other, wait] : [wait, other])
            #expect(findings.map(\.rule) == [.placement])
            #expect(findings.first?.harm.contains(harm) == true)
        }
    }

    @Test func aLimitOfNoTimeIsFound() {
        let findings = findings([.waitForNetwork(upTo: .zero, monitor: network)])
        #expect(findings.map(\.rule) == [.noEffect])
        #expect(findings.first?.remedy.contains(".waitForNetwork(upTo: .seconds(30))") == true)
    }
}
