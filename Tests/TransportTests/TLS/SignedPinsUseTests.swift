#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransport

// Which lists are accepted and used, and with which other pins.
extension SignedPinsTests {
    private func code(_ refreshed: SignedPins) async -> HTTPErrorCode? {
        do {
            try await refreshed.refresh()
            return nil
        } catch {
            return (error as? TransportError)?.code
        }
    }

    @Test func listIsValidUntilItsExpiryToTheSecond() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list())
        let expiry = try Date("2030-12-31T00:00:00Z", strategy: .iso8601)
        #expect(await code(try fixture.pins(now: { expiry })) == .pinsExpired)
        let pins = try fixture.pins(now: { expiry.addingTimeInterval(-1) })
        #expect(await code(pins) == nil)
        #expect(pins.pins(for: "localhost") != nil)
    }

    @Test func listOfTheSameSerialMayBeFetchedAgain() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list(serial: 7))
        let pins = try fixture.pins()
        #expect(await code(pins) == nil)
        #expect(await code(pins) == nil)
        #expect(await code(try fixture.pins()) == nil)
    }

    @Test func listThatCannotBeKeptIsUsed() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list())
        let pins = try SignedPins(
            url: try #require(URL(string: "https://static.example.com/pins.json")),
            keys: [fixture.key],
            // A regular file can't contain a folder, so the list can't be written.
            cacheFile: fixture.folder.file("key.pub").appendingPathComponent("kept.json"),
            transport: fixture.stub,
            minimumInterval: .zero,
            time: TimeSource(clock: fixture.clock, now: { Self.today })
        )
        #expect(await code(pins) == .pinsNotSaved)
        #expect(try await pins.update(for: "localhost") == nil)
        #expect(pins.pins(for: "localhost") != nil)
    }

    @Test func failedFetchIsReportedOnceAndASuccessIsNot() async throws {
        let fixture = try await Fixture()
        let reports = Mutex<[TransportError]>([])
        let pins = try fixture.pins(report: { error in reports.withLock { $0.append(error) } })
        fixture.stub.on(.get, "/**", .status(503))
        _ = try await pins.update(for: "localhost")
        _ = try await pins.update(for: "localhost")
        #expect(reports.withLock { $0.map(\.code) } == [.pinsUnavailable])
        try await fixture.publish(fixture.list())
        try await pins.refresh()
        #expect(reports.withLock { $0.count } == 1)
    }

    @Test func failedFetchIsNotRepeatedBeforeTheIntervalHasPassed() async throws {
        let fixture = try await Fixture()
        fixture.stub.on(.get, "/**", .status(503))
        let pins = try fixture.pins()
        #expect(try await pins.update(for: "localhost")?.code == .pinsUnavailable)
        fixture.clock.advance(by: .milliseconds(59_999))
        #expect(try await pins.update(for: "localhost")?.code == .pinsUnavailable)
        #expect(fixture.stub.requests.count == 1)
        fixture.clock.advance(by: .milliseconds(1))
        #expect(try await pins.update(for: "localhost")?.code == .pinsUnavailable)
        #expect(fixture.stub.requests.count == 2)
    }

    @Test func keyIsASinglePublicOneAndOfRSAHasAtLeast2048Bits() throws {
        let short = """
            MIIBITANBgkqhkiG9w0BAQEFAAOCAQ4AMIIBCQKCAQBjHmY2Uju3NrBfiw3VuVBT8xhoGH9jCf/sepHynTHipPjNadbxYT/mDPUpyTKbSnmy2g1F
            IFuWSXMMBcHrLa15JYyBdZwEQGa3LyFC7YYnDSNin66evcjcjo7U9L1VDjTjmY9oPQDaqR1mfBQvBMva/Fu43JdSxUSamTB4No67eTL/d2wqlhp0
            amd19XDNMDtmK9+5G3Ft2IizNhdSXYTh26DG3EV9TJf+PQw5eLaypFHTng0pJGKcDZyf12KFeDSgW1OYuA0LaGAd+LW/RyOojd8+UrFj0CB/TQDf
            mu/aHrpTKTHL4j1d57a8a0ceK9xY+MuQ5rzSuNhxIeulvP2NAgMBAAE=
            """
        let sufficient = """
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAtdyDVjCS1ixEAq4JR+/kK0RCRe755F6/pp8XflP/A0Q+J+h0sWu/XAIZd6cOzy3Ia/w1
            EO6DvzpUB1pZ/GkoEShY8COkdpLDxt+PP6z3BsGlwgBqwqUos6G8jdmWszBQQP5lBb7kJgCOdsszYdLMyn+2OrlDkNhW/eAvPzU2E6XgEcxd+vK8
            q4+A1t4HC73/uuIoacLP/Z7hvN7QLwktOhLpJwR+PDTaNmINs0IgTUQnr+9CXzC2WT+5ABxfgoPk/cR3pL45a7sJ1B8wPPCpBF6tSub9K391KAVq
            TKmw45g+k5mLU+xkwNf8VdEQQ5bMWvQGwj1SDDuWEjjd5YN5wwIDAQAB
            """
        func key(_ base64: String) throws -> PinListKey {
            try PinListKey(pem: "-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----\n")
        }
        let error = #expect(throws: TransportError.self) { try key(short) }
        #expect(error?.code == .invalidPublicKey)
        #expect(error?.message.contains("2048") == true, "\(String(describing: error))")
        #expect(try key(sufficient).kind == .rsa)

        // Exactly one block, with the label of a public key.
        let der = try #require(Data(base64Encoded: sufficient, options: .ignoreUnknownCharacters))
        let block = PEM.text("PUBLIC KEY", der)
        for content in [
            block + block, block + PEM.text("CERTIFICATE", der), PEM.text("PRIVATE KEY", der),
            PEM.text("RSA PUBLIC KEY", der), PEM.text("PUBLIC KEY", der + [0]),
            PEM.text("PUBLIC KEY", der.dropLast()), "",
        ] {
            #expect(throws: TransportError.self) { try PinListKey(pem: content) }
        }
    }

    @Test func signedPinsAreAddedToThoseOfTheSettings() async throws {
        let fixture = try await Fixture()
        let (own, fetched) = (
            CurlPinningTests.otherPin, CertificatePin(.publicKey, digest: Array(repeating: 1, count: 32))
        )
        try await fixture.publish(fixture.list(pin: fetched.description))
        let pins = try fixture.pins()
        try await pins.refresh()
        let settings = TLSConfiguration(pins: ["localhost": [own], "other": [own]], signedPins: pins)
        #expect(settings.pins(for: "localhost") == [own, fetched])
        #expect(settings.pins(for: "other") == [own])
        #expect(settings.pins(for: "third") == nil)
    }

    @Test func hostThatOnlySignedPinsNameIsNotReachedOverHTTP() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list())
        let pins = try fixture.pins()
        try await pins.refresh()
        let settings = TLSConfiguration(signedPins: pins)
        let error = #expect(throws: TransportError.self) {
            try settings.check(HTTPRequest(url: #require(URL(string: "http://localhost/"))))
        }
        #expect(error?.code == .tlsFailed)
        for url in ["https://localhost/", "http://other.example/"] {
            try settings.check(HTTPRequest(url: #require(URL(string: url))))
        }
    }
}
#endif
