#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct SignedPinsTests {
    static let pin = CertificatePinTests.text
    static let today = Date(timeIntervalSince1970: 1_900_000_000)

    /// A key pair, a folder for the list, and a stub that serves the list.
    struct Fixture {
        let folder: TemporaryFolder
        let key: String
        let clock = ManualClock()
        let stub: StubTransport

        init(_ kind: String = "ed25519") async throws {
            folder = try TemporaryFolder()
            stub = StubTransport(time: .manual(clock))
            try await Script.signPins("keygen", kind, folder.file("key").path)
            key = try String(contentsOf: folder.file("key.pub"), encoding: .utf8)
        }

        func list(serial: Int = 1, host: String = "localhost", pin: String = SignedPinsTests.pin) -> String {
            #"{"version":1,"serial":\#(serial),"expires":"2030-12-31T00:00:00Z","pins":{"\#(host)":["\#(pin)"]}}"#
        }

        func sign(_ list: String) async throws -> Data {
            let file = folder.file("list-\(UUID().uuidString).json")
            try Data(list.utf8).write(to: file)
            try await Script.signPins("sign", folder.file("key.key").path, file.path)
            return try Data(contentsOf: file.appendingPathExtension("sig"))
        }

        /// From now on, the server returns this list.
        func publish(_ list: String, signature: Data? = nil) async throws {
            stub.on(.get, "/pins.json", .data(Data(list.utf8), contentType: "application/json"))
            let bytes: Data = if let signature { signature } else { try await sign(list) }
            stub.on(.get, "/pins.json.sig", .data(bytes, contentType: "text/plain"))
        }

        func pins(
            keys: [String]? = nil,
            now: @escaping @Sendable () -> Date = { SignedPinsTests.today },
            report: @escaping @Sendable (TransportError) -> Void = { _ in }
        ) throws -> SignedPins {
            try SignedPins(
                url: try #require(URL(string: "https://static.example.com/pins.json?v=1")),
                keys: keys ?? [key],
                cacheFile: folder.file("kept.json"),
                transport: stub,
                time: TimeSource(clock: clock, now: now),
                report: report
            )
        }
    }

    private func expect(_ code: HTTPErrorCode, _ pins: SignedPins) async {
        let error = await #expect(throws: TransportError.self) { try await pins.refresh() }
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(pins.pins(for: "localhost") == nil)
    }

    @Test(arguments: ["rsa", "ec", "ed25519"])
    func listSignedWithTheKeyIsAcceptedAndTamperingIsNot(kind: String) async throws {
        let fixture = try await Fixture(kind)
        let list = fixture.list()
        let signature = try await fixture.sign(list)
        try await fixture.publish(list, signature: signature)
        let pins = try fixture.pins()
        try await pins.refresh()
        #expect(pins.pins(for: "localhost") == [try CertificatePin(parsing: Self.pin)])
        #expect(pins.serial == 1)
        #expect(fixture.stub.requests.map(\.url.path) == ["/pins.json", "/pins.json.sig"])

        try await fixture.publish(list.replacing("localhost", with: "localhosu"), signature: signature)
        await expect(.pinsNotSigned, try await Fixture(kind).pinsOf(fixture.stub, key: fixture.key))
        await expect(.pinsNotSigned, try await Fixture(kind).pinsOf(fixture.stub, key: Fixture(kind).key))
        try await fixture.publish(list, signature: Data("AAAA".utf8))
        await expect(.pinsNotSigned, try await Fixture(kind).pinsOf(fixture.stub, key: fixture.key))
        try await fixture.publish(list, signature: Data("no base64".utf8))
        await expect(.pinsNotSigned, try await Fixture(kind).pinsOf(fixture.stub, key: fixture.key))
    }

    @Test func anyOfSeveralKeysWillDo() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list())
        let pins = try await fixture.pins(keys: [Fixture("ec").key, fixture.key])
        try await pins.refresh()
        #expect(pins.serial == 1)
    }

    @Test func expiredListIsRefusedAndAnAcceptedOneEnds() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list())
        let late = Date(timeIntervalSince1970: 1_930_000_000)
        await expect(.pinsExpired, try fixture.pins(now: { late }))
        let clock = AdjustableDate(Self.today)
        let pins = try fixture.pins(now: { clock.date })
        try await pins.refresh()
        clock.date = try Date("2030-12-30T23:59:59Z", strategy: .iso8601)
        #expect(pins.pins(for: "localhost") != nil)
        clock.date += 1
        #expect(pins.pins(for: "localhost") == nil)
    }

    @Test func olderListThanTheLastOneIsRefusedAcrossRuns() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list(serial: 7))
        try await fixture.pins().refresh()
        try await fixture.publish(fixture.list(serial: 6, host: "other"))
        let again = try fixture.pins()
        #expect(again.serial == 7)
        #expect(again.pins(for: "localhost") != nil)
        let error = await #expect(throws: TransportError.self) { try await again.refresh() }
        #expect(error?.code == .pinsOutdated)
        #expect(again.pins(for: "other") == nil)
        try await fixture.publish(fixture.list(serial: 8, host: "other"))
        try await again.refresh()
        #expect(again.serial == 8)
        #expect(again.pins(for: "localhost") == nil)
    }

    @Test func listOlderThanTheOneThatAnotherProcessKeptIsRefused() async throws {
        let fixture = try await Fixture()
        let (first, second) = (try fixture.pins(), try fixture.pins())
        try await fixture.publish(fixture.list(serial: 3))
        try await first.refresh()
        try await fixture.publish(fixture.list(serial: 7))
        try await second.refresh()
        // Newer than this object's list, and older than the list that the other one has kept since.
        try await fixture.publish(fixture.list(serial: 5, host: "other"))
        let error = await #expect(throws: TransportError.self) { try await first.refresh() }
        #expect(error?.code == .pinsOutdated)
        #expect(first.serial == 3)
        #expect(first.pins(for: "other") == nil)
        #expect(try fixture.pins().serial == 7)
    }

    @Test func listThatExpiredStillForbidsOlderOnes() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list(serial: 7))
        try await fixture.pins().refresh()
        let later = fixture.list(serial: 3).replacing("2030", with: "2035")
        try await fixture.publish(later)
        await expect(.pinsOutdated, try fixture.pins(now: { Date(timeIntervalSince1970: 1_930_000_000) }))
    }

    @Test func keptFileThatNoKeySignedIsIgnored() async throws {
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list(serial: 7))
        try await fixture.pins().refresh()
        #expect(try await fixture.pins(keys: [Fixture().key]).serial == nil)
        try Data("garbage".utf8).write(to: fixture.folder.file("kept.json"))
        #expect(try fixture.pins().serial == nil)
    }

    @Test(arguments: [
        " ", "[]", "{}", #"{"version":2,"serial":1,"expires":"2030-12-31T00:00:00Z","pins":{}}"#,
        #"{"version":1,"serial":1,"expires":"tomorrow","pins":{}}"#,
        #"{"version":1,"serial":1,"expires":"2030-12-31T00:00:00Z","pins":{"localhost":["sha256/oops"]}}"#,
        #"{"version":1,"serial":1,"expires":"2030-12-31T00:00:00Z","pins":{"https://localhost":[]}}"#,
        #"{"version":1,"serial":1,"expires":"2030-12-31T00:00:00Z","pins":{"localhost":[],"LOCALHOST":[]}}"#,
        #"{"version":1,"serial":1e99,"expires":"2030-12-31T00:00:00Z","pins":{}}"#,
    ])
    func listThatIsNotInTheFormatIsRefused(list: String) async throws {
        let fixture = try await Fixture()
        try await fixture.publish(list)
        await expect(.malformed, try fixture.pins())
    }

    @Test func serverThatFailsIsNoList() async throws {
        let fixture = try await Fixture()
        fixture.stub.on(.get, "/**", .status(503))
        await expect(.pinsUnavailable, try fixture.pins())
    }

    @Test func transportThatCannotUseItsOwnSettingsBringsNoList() async throws {
        let fixture = try await Fixture()
        fixture.stub.on(.get, "/**", .failure(TransportError(.pinsNotSaved, "It is another transport's.")))
        await expect(.pinsUnavailable, try fixture.pins())
    }

    @Test func keyMustBeOneThatProtects() async throws {
        for text in ["", "nonsense", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"] {
            let error = #expect(throws: TransportError.self) { try PinListKey(pem: text) }
            #expect(error?.code == .invalidPublicKey)
        }
    }
}

extension SignedPinsTests {
    @Test func pinsAreFetchedOnceForAllCallsAndTheCallsAreSent() async throws {
        let tls = try TLSFixture()
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list(pin: tls.identity.chain[1].publicKeyPin.description))
        var settings = TLSConfiguration.pinned(["localhost": [CurlPinningTests.otherPin]], trust: tls.trust)
        settings.signedPins = try fixture.pins()
        let transport = CurlTransport(.init(tls: settings))
        let request = try tls.request()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await transport.send(request).status.code } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 20))
        #expect(tls.server.requests.count == 20)
        #expect(fixture.stub.requests.count == 2)
        await transport.shutDown()
    }

    @Test func listWithoutTheHostOrItsPinLeavesTheCallRefusedAndIsNotFetchedAgainAtOnce() async throws {
        let tls = try TLSFixture()
        let fixture = try await Fixture()
        try await fixture.publish(fixture.list(host: "elsewhere.example"))
        var settings = TLSConfiguration.pinned(["localhost": [CurlPinningTests.otherPin]], trust: tls.trust)
        settings.signedPins = try fixture.pins()
        let transport = CurlTransport(.init(tls: settings))
        let request = try tls.request()
        for round in 0..<2 {
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            #expect(error?.underlying is PinningError)
            let reason = round == 0 ? "pinsLackHost" : "fetched less than"
            #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
        }
        #expect(fixture.stub.requests.count == 2)
        fixture.clock.advance(by: .seconds(61))
        _ = try? await transport.send(request)
        #expect(fixture.stub.requests.count == 4)
        #expect(tls.server.requests.isEmpty)
        await transport.shutDown()
    }

    @Test func cancelledCallLeavesTheFetchingToTheOthers() async throws {
        let fixture = try await Fixture()
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let (gates, gate) = AsyncStream<Void>.makeStream()
        let list = fixture.list()
        let signature = try await fixture.sign(list)
        let slow = StubTransport(time: .manual(fixture.clock)) { request in
            if request.url.path.hasSuffix(".sig") { return HTTPResponse(status: 200, body: HTTPBody(signature)) }
            arrival.yield()
            for await _ in gates { break }
            return HTTPResponse(status: 200, body: HTTPBody(list))
        }
        let pins = try SignedPins(
            url: try #require(URL(string: "https://static.example.com/pins.json")),
            keys: [fixture.key],
            cacheFile: nil,
            transport: slow,
            time: TimeSource(now: { Self.today })
        )
        let first = Task { try await pins.refresh() }
        for await _ in arrivals { break }
        let second = Task { try await pins.refresh() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        while pins.waiterCount < 2 { await Task.yield() }
        gate.yield()
        try await second.value
        #expect(pins.serial == 1)
        #expect(slow.requests.count == 2)
    }
}

extension SignedPinsTests.Fixture {
    fileprivate func pinsOf(_ stub: StubTransport, key: String) throws -> SignedPins {
        try SignedPins(
            url: #require(URL(string: "https://static.example.com/pins.json")),
            keys: [key],
            cacheFile: nil,
            transport: stub,
            time: TimeSource(now: { Date(timeIntervalSince1970: 1_900_000_000) })
        )
    }
}

/// A date that a test can change.
private final class AdjustableDate: Sendable {
    private let value: Mutex<Date>
    init(_ date: Date) { value = Mutex(date) }
    var date: Date {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
#endif
