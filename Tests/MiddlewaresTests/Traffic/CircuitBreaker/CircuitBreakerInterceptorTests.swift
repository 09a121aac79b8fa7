import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging)
struct CircuitBreakerInterceptorTests {
    private let clock = ManualClock()
    private let changes = Shared<[String]>([])

    private func breaker(_ trip: CircuitTrip = .consecutiveFailures(2), probes: Int = 1) -> CircuitBreakerInterceptor {
        CircuitBreakerInterceptor(trip, openFor: .seconds(30), probes: probes, time: .manual(clock)) {
            [changes] origin, old, new in
            changes.change { $0.append("\(origin): \(old) -> \(new)") }
        }
    }

    @Test func openCircuitSendsNothingUntilAProbeSucceeds() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(503), .status(500), .status(502), .status(200), .status(404))
        let chain = InterceptorChain([breaker()], transport: stub)
        #expect(try await chain.get() == 503)
        #expect(try await chain.get() == 500)
        let error = await #expect(throws: LimitError.self) {
            try await chain.get(url("https://api.example.com/x?token=secret-value"))
        }
        #expect(error?.code == .circuitOpen)
        #expect(error?.wait == .seconds(30))
        #expect(error?.origin == apiOrigin)
        #expect(error?.description.contains("Try again in 30.0 seconds.") == true)
        #expect(error?.description.contains("GET https://api.example.com/x?token=<redacted>") == true)
        #expect(stub.requests.count == 2)
        clock.advance(by: .seconds(30))
        #expect(try await chain.get() == 502)
        await #expect(throws: LimitError.self) { try await chain.get() }
        clock.advance(by: .seconds(30))
        #expect(try await chain.get() == 200)
        #expect(try await chain.get() == 404)
        try stub.verify()
        let origin = "https://api.example.com:443"
        #expect(
            changes.value == [
                "\(origin): closed -> open", "\(origin): open -> halfOpen", "\(origin): halfOpen -> open",
                "\(origin): open -> halfOpen", "\(origin): halfOpen -> closed",
            ]
        )
    }

    @Test func eachHostHasACircuitOfItsOwn() async throws {
        let chain = InterceptorChain(
            [breaker()],
            transport: Recorder { HTTPResponse(status: $0.url.host() == "bad" && $0.url.port == nil ? 503 : 200) }
        )
        for _ in 0..<2 { _ = try await chain.get(url("https://bad/")) }
        await #expect(throws: LimitError.self) { try await chain.get(url("https://bad/")) }
        #expect(try await chain.get(url("https://good/")) == 200)
        #expect(try await chain.get(url("https://bad:8443/")) == 200)
    }

    @Test func cancellationsNeverCount() async throws {
        let chain = InterceptorChain(
            [breaker()],
            transport: Recorder { request in
                if request.url.path == "/wrapped" {
                    withUnsafeCurrentTask { $0?.cancel() }
                    throw TransportError(.connectionLost, "Cut off.", request: request)
                }
                throw CancellationError()
            }
        )
        for _ in 0..<5 {
            await #expect(throws: CancellationError.self) { try await chain.get() }
            let cancelled = Task { try await chain.get(url("https://api.example.com/wrapped")) }
            await #expect(throws: TransportError.self) { try await cancelled.value }
        }
        #expect(changes.value.isEmpty)
    }

    @Test func cancelledProbeLetsTheNextOneGo() async throws {
        let (isDown, arrivals) = (Shared(true), Tally())
        let transport = Recorder { [clock] _ in
            arrivals.count()
            if isDown.value { return HTTPResponse(status: 503) }
            try await clock.sleep(for: .seconds(5))
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain([breaker()], transport: transport)
        for _ in 0..<2 { _ = try await chain.get() }
        isDown.value = false
        clock.advance(by: .seconds(30))
        let probe = Task { try await chain.get() }
        await clock.sleepers(1)
        let error = await #expect(throws: LimitError.self) { try await chain.get() }
        #expect(error?.message.contains("is being probed") == true)
        probe.cancel()
        await #expect(throws: CancellationError.self) { try await probe.value }
        let next = Task { try await chain.get() }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(try await next.value == 200)
        #expect(changes.value.last?.hasSuffix("halfOpen -> closed") == true)
    }

    @Test(arguments: [
        (HTTPErrorCode.connectionLost, true), (.cannotConnect, true), (.cannotFindHost, true), (.timedOut, true),
        (.truncated, true), (.tlsFailed, true), (.invalidResponse, true), (.invalidRequest, false),
        (.bodyNotReplayable, false), (.bodyTooLarge, false), (.unreadableFile, false), (.noStub, false),
    ])
    func errorsThatSayThatTheHostIsDownCount(code: HTTPErrorCode, isFailure: Bool) {
        let request = HTTPRequest(url: apiURL)
        #expect(OutcomeCondition.hostFailure.matches(.failure(TransportError(code, "…")), to: request) == isFailure)
    }

    @Test(arguments: [
        (200, false), (204, false), (304, false), (404, false), (429, false), (500, true), (501, false), (502, true),
        (503, true), (504, true),
    ])
    func statusesThatSayThatTheHostIsDownCount(code: Int, isFailure: Bool) throws {
        let status = try #require(HTTPResponse.Status(code: code))
        let response = HTTPResponse(status: status)
        #expect(OutcomeCondition.hostFailure.matches(.success(response), to: HTTPRequest(url: apiURL)) == isFailure)
    }

    @Test func statusErrorOfAValidateStatusInsideCountsAsItsStatus() async throws {
        let changes = changes
        let chain = InterceptorChain(
            [breaker(), .validateStatus()],
            transport: Recorder { _ in HTTPResponse(status: 503) }
        )
        for _ in 0..<2 { await #expect(throws: StatusError.self) { try await chain.get() } }
        await #expect(throws: LimitError.self) { try await chain.get() }
        #expect(changes.value.count == 1)
    }

    @Test func requestThatTimedOutBeforeItWasSentSaysNothingAboutTheHost() {
        let request = HTTPRequest(url: apiURL)
        let error = UnsentError.timedOut(waitingFor: "a permit", request)
        #expect(error.code == .timedOut)
        #expect(!OutcomeCondition.hostFailure.matches(.failure(error), to: request))
        #expect(!OutcomeCondition.hostFailure.matches(.failure(RefreshRefused()), to: request))
    }

    @Test func whatCountsIsTheCallersChoice() async throws {
        let breaker: AnyInterceptor = .circuitBreaker(
            .consecutiveFailures(1),
            failures: .hostFailure || .status(418),
            time: .manual(clock)
        )
        let stub = StubTransport()
        stub.enqueue(.status(418))
        let chain = InterceptorChain([breaker], transport: stub)
        #expect(try await chain.get() == 418)
        await #expect(throws: LimitError.self) { try await chain.get() }
    }

    @Test func errorThatIsNoFailureNeitherCountsNorEndsARow() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(503), .failure(RefreshRefused()), .status(503), .status(200))
        let chain = InterceptorChain([breaker()], transport: stub)
        #expect(try await chain.get() == 503)
        await #expect(throws: RefreshRefused.self) { try await chain.get() }
        #expect(try await chain.get() == 503)
        await #expect(throws: LimitError.self) { try await chain.get() }
        #expect(changes.value.count == 1)
    }

    @Test func closureThatIsToldOfAChangeMayUseTheChain() async throws {
        let chain = Shared<InterceptorChain?>(nil)
        let told = Tally()
        let breaker = CircuitBreakerInterceptor(.consecutiveFailures(1), time: .manual(clock)) { _, _, _ in
            told.count()
            Task { try? await chain.value?.get() }
        }
        chain.value = InterceptorChain([breaker], transport: Recorder { _ in HTTPResponse(status: 503) })
        _ = try await chain.value?.get()
        await told.reached(1)
        chain.value = nil
    }

    @Test func requestWithoutAHostIsTheTransportsToRefuse() async throws {
        let chain = InterceptorChain([breaker()], transport: StubTransport())
        await #expect(throws: TransportError.self) { try await chain.get(url("mailto:a@b")) }
    }

    @Test func hostsThatWereAskedOnceAreForgotten() async throws {
        let breaker = breaker()
        let chain = InterceptorChain([breaker], transport: Recorder())
        for number in 0..<1000 { _ = try await chain.get(url("https://host-\(number)/")) }
        #expect(breaker.breaker.count <= 64)
    }

    @Test func hostsThatFailedAndWereNeverAskedAgainAreBoundedAndTheLatestRemembered() async throws {
        let breaker = breaker()
        let chain = InterceptorChain([breaker], transport: Recorder { _ in HTTPResponse(status: 503) })
        let hosts = try (0..<3000).map { try url("https://host-\($0)/") }
        for host in hosts {
            for _ in 0..<3 { _ = try? await chain.get(host) }
        }
        #expect(breaker.breaker.count <= 1024)
        await #expect(throws: LimitError.self) { try await chain.get(hosts[2999]) }
    }

    @Test func hundredsAtOnceSendOneProbeAndHearOfTheChangesInOrder() async throws {
        let (isDown, probes) = (Shared(true), Tally())
        let transport = Recorder { _ in
            if isDown.value { return HTTPResponse(status: 503) }
            probes.count()
            await Task.yield()
            return HTTPResponse(status: 503)
        }
        let chain = InterceptorChain([breaker()], transport: transport)
        for _ in 0..<10 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<200 { group.addTask { _ = try? await chain.get() } }
            }
            isDown.value = false
            clock.advance(by: .seconds(30))
        }
        #expect(probes.value == 9)
        let states = changes.value.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        #expect(states.first == "closed -> open")
        #expect(
            Array(states.dropFirst())
                == Array(repeating: ["open -> halfOpen", "halfOpen -> open"], count: 9).flatMap(\.self)
        )
    }
}
