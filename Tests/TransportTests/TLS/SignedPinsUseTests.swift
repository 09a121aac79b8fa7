#if os(Linux)
import Foundation
import TestSupport
import Testing
import TransportTesting

@testable import Transport

// Which lists are accepted and used, and with which other pins.
extension SignedPinsTests {
    private func code(_ refreshed: SignedPins) async -> SignedPinsError.Code? {
        do {
            try await refreshed.refresh()
            return nil
        } catch {
            return (error as? SignedPinsError)?.code
        }
    }

    @Test func listIsValidUntilItsExpiryToTheSecond() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list())
        let expiry = try Date("2030-12-31T00:00:00Z", strategy: .iso8601)
        #expect(await code(try fixture.pins(now: { expiry })) == .expired)
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
        let pins = SignedPins(
            url: try #require(URL(string: "https://static.example.com/pins.json")),
            keys: [fixture.key],
            // A regular file can't contain a folder, so the list can't be written.
            keptIn: fixture.folder.file("key.pub").appendingPathComponent("kept.json"),
            over: fixture.stub,
            minimumInterval: .zero,
            clock: fixture.clock,
            now: { Self.today }
        )
        #expect(await code(pins) == .notKept)
        #expect(try await pins.update(for: "localhost") == nil)
        #expect(pins.pins(for: "localhost") != nil)
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
