#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

/// An attacker on the way to the list's server can delay the list. Calls must end anyway.
extension SignedPinsTests {
    private static let pinsURL = "https://static.example.com/pins.json"

    private func pins(
        _ fixture: Fixture,
        over transport: StubTransport,
        clock: ManualClock = ManualClock()
    ) throws -> SignedPins {
        try SignedPins(
            url: #require(URL(string: Self.pinsURL)),
            keys: [fixture.key],
            cacheFile: nil,
            transport: transport,
            time: TimeSource(clock: clock, now: { Self.today })
        )
    }

    /// A transport that trusts no server until it has pins from the list. Each call has five seconds.
    private func transport(_ tls: TLSFixture, _ pins: SignedPins, _ clock: ManualClock) -> CurlTransport {
        var settings = TLSConfiguration.pinned(["localhost": [CurlPinningTests.otherPin]], trust: tls.trust)
        settings.signedPins = pins
        var configuration = CurlTransport.Configuration(tls: settings)
        configuration.time = .manual(clock)
        configuration.timeouts = Timeouts(idle: nil, total: .seconds(5))
        return CurlTransport(configuration)
    }

    @Test func listThatDoesNotComeIsGivenUp() async throws {
        let (fixture, clock) = (try await Fixture(), ManualClock())
        let silent = StubTransport(time: .manual(clock)) { _ in
            try await ManualClock().sleep(for: .seconds(1))
            return HTTPResponse(status: 200)
        }
        let pins = try pins(fixture, over: silent, clock: clock)
        let call = Task { try await pins.refresh() }
        await clock.sleepers(1)
        clock.advance(by: .seconds(15))
        let error = await #expect(throws: TransportError.self) { try await call.value }
        #expect(error?.code == .pinsUnavailable)
        #expect(silent.requests.first?.context.timeouts == Timeouts(idle: .seconds(15), total: .seconds(30)))
    }

    @Test func callWaitsForTheListNoLongerThanItsLimit() async throws {
        let (tls, fixture, clock) = (try TLSFixture(), try await Fixture(), ManualClock())
        let asked = Gate()
        let silent = StubTransport(time: .manual(ManualClock())) { _ in
            asked.open()
            try await ManualClock().sleep(for: .seconds(1))
            return HTTPResponse(status: 200)
        }
        let transport = transport(tls, try pins(fixture, over: silent), clock)
        let request = try tls.request()
        let call = Task { try await transport.send(request) }
        await asked.opened()
        // The transport's alarm, and the call that waits for the list.
        await clock.sleepers(2)
        clock.advance(by: .seconds(5))
        let error = try await failure { try await call.value }
        #expect(error.code == .timedOut)
        #expect(error.message.contains("5.0 seconds"), "\(error)")
        #expect(tls.server.requests.isEmpty)
        await transport.shutDown()
    }

    @Test func callThatIsSentWithTheListsPinsHasNotItsWholeTimeAgain() async throws {
        let (tls, fixture, clock) = (try TLSFixture(), try await Fixture(), ManualClock())
        tls.server.on(.get, "/**", .neverAnswer)
        let list = fixture.list(pin: tls.identity.chain[1].publicKeyPin.description)
        let signature = try await fixture.sign(list)
        let slow = StubTransport(time: .manual(ManualClock())) { request in
            if request.url.path.hasSuffix(".sig") { return HTTPResponse(status: 200, body: HTTPBody(signature)) }
            clock.advance(by: .seconds(3))
            return HTTPResponse(status: 200, body: HTTPBody(list))
        }
        let transport = transport(tls, try pins(fixture, over: slow), clock)
        let request = try tls.request()
        let call = Task { try await transport.send(request) }
        _ = await tls.server.requests(atLeast: 1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(9))
        let error = try await failure { try await call.value }
        #expect(error.code == .timedOut)
        #expect(error.message.contains("2.0 seconds"), "\(error)")
        await transport.shutDown()
    }

    @Test func callWhoseTimeIsOverWhenTheListComesIsNotSent() async throws {
        let (tls, fixture, clock) = (try TLSFixture(), try await Fixture(), ManualClock())
        let list = fixture.list(pin: tls.identity.chain[1].publicKeyPin.description)
        let signature = try await fixture.sign(list)
        let late = StubTransport(time: .manual(ManualClock())) { request in
            if request.url.path.hasSuffix(".sig") { return HTTPResponse(status: 200, body: HTTPBody(signature)) }
            clock.advance(by: .seconds(6))
            return HTTPResponse(status: 200, body: HTTPBody(list))
        }
        let transport = transport(tls, try pins(fixture, over: late), clock)
        let request = try tls.request()
        #expect(try await failure { try await transport.send(request) }.code == .timedOut)
        #expect(tls.server.requests.isEmpty)
        await transport.shutDown()
    }
}
#endif
