#if os(Linux)
import Foundation
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

/// Checks by the program, in real handshakes over loopback.
@Suite(.againstHanging) struct ServerCheckTests {
    struct Refused: Error {}

    /// The arguments of a check's calls.
    final class Record: Sendable {
        struct Call: Sendable {
            let host: String
            let chain: [TLSCertificate]
            let failure: (any Error)?
        }
        private let state = Mutex<[Call]>([])
        var calls: [Call] { state.withLock { $0 } }
        func add(_ host: String, _ chain: [TLSCertificate], _ failure: (any Error)?) {
            state.withLock { $0.append(Call(host: host, chain: chain, failure: failure)) }
        }
    }

    @Test func checkSeesHostAndVerifiedChain() async throws {
        let fixture = try TLSFixture()
        let record = Record()
        let tls = TLSConfiguration(trust: fixture.trust).checkingServers { record.add($0, $1, $2) }
        #expect(try await send(fixture.request(host: "LOCALHOST"), tls).status == 200)
        #expect(record.calls.map(\.host) == ["localhost"])
        #expect(record.calls.first?.chain == fixture.identity.chain + [fixture.root.certificate])
        #expect(record.calls.first?.failure == nil)
    }

    @Test func thrownErrorClosesTheConnectionAndIsTheCause() async throws {
        let fixture = try TLSFixture()
        let tls = TLSConfiguration(trust: fixture.trust).checkingServers { _, _, _ in throw Refused() }
        let failure = try await expectRefusal(fixture, tls)
        #expect(failure.underlying is Refused)
        #expect(failure.message.contains("localhost"))
        #expect(fixture.server.handshakesCompleted == 0)
    }

    @Test func everyCheckMustPass() async throws {
        let fixture = try TLSFixture()
        let tls = TLSConfiguration(trust: fixture.trust)
            .checkingServers { _, _, _ in throw Refused() }
            .checkingServers { _, _, _ in }
        _ = try await expectRefusal(fixture, tls)
    }

    @Test func checkCanNotAcceptWhatTheSettingsRefuse() async throws {
        let fixture = try TLSFixture()
        let record = Record()
        let lenient = TLSConfiguration.system.checkingServers { record.add($0, $1, $2) }
        _ = try await expectRefusal(fixture, lenient)

        var pinned = TLSConfiguration.pinned([CurlPinningTests.otherPin], trust: fixture.trust)
        pinned = pinned.checkingServers { record.add($0, $1, $2) }
        #expect(try await expectRefusal(fixture, pinned).underlying is PinningError)
        #expect(record.calls.isEmpty)

        let elsewhere = try TLSFixture(hosts: ["elsewhere.example"])
        let tls = TLSConfiguration(trust: elsewhere.trust).checkingServers { _, _, _ in }
        _ = try await expectRefusal(elsewhere, tls)
    }

    @Test func checkDecidesAloneForAnExemptHost() async throws {
        let fixture = try TLSFixture()
        let record = Record()
        let exempt = TLSConfiguration.system.dangerouslyAcceptingInvalidCertificates(from: "localhost")
        #expect(try await send(fixture.request(), exempt.checkingServers { record.add($0, $1, $2) }).status == 200)
        let call = try #require(record.calls.first)
        #expect(call.failure is TransportError)
        #expect(call.chain == fixture.identity.chain)

        let strict = exempt.checkingServers { _, _, failure in if failure != nil { throw Refused() } }
        #expect(try await expectRefusal(TLSFixture(), strict).underlying is Refused)
    }

    @Test(arguments: [nil, "localhost"])
    func exemptHostStillGetsTheVerdictOfItsName(exemptName: String?) async throws {
        let elsewhere = try TLSFixture(hosts: ["elsewhere.example", "127.0.0.2"])
        for host in ["localhost", "127.0.0.1"] {
            let record = Record()
            let exempt = TLSConfiguration(trust: elsewhere.trust).dangerouslyAcceptingInvalidCertificates(from: host)
            let named = exemptName == nil ? exempt : exempt.dangerouslyAcceptingAnyHostName(from: host)
            let response = try await send(
                elsewhere.request(host: host),
                named.checkingServers { record.add($0, $1, $2) }
            )
            #expect(response.status == 200)
            #expect(record.calls.map { $0.failure is TransportError } == [exemptName == nil])
        }
        let right = try TLSFixture()
        let record = Record()
        let tls = TLSConfiguration(trust: right.trust).dangerouslyAcceptingInvalidCertificates(from: "localhost")
        _ = try await send(right.request(), tls.checkingServers { record.add($0, $1, $2) })
        #expect(record.calls.map { $0.failure == nil } == [true])
    }

    @Test func trustedChainOfAnotherHostProvesOnlyItsFirstCertificateToAnExemptHostsPins() async throws {
        let elsewhere = try TLSFixture(hosts: ["elsewhere.example"])
        let pins = TLSConfiguration.pinned([elsewhere.root.certificate.publicKeyPin], trust: elsewhere.trust)
        let tls = pins.dangerouslyAcceptingInvalidCertificates(from: "localhost")
        #expect(try await expectRefusal(elsewhere, tls).underlying is PinningError)
    }

    @Test func plainHTTPIsRefusedBecauseNothingCouldBeChecked() async throws {
        let server = try MockServer()
        server.on(nil, "/**") { _ in StubAnswer.status(200) }
        let tls = TLSConfiguration.system.checkingServers { _, _, _ in }
        let error = await #expect(throws: TransportError.self) { try await send(HTTPRequest(url: server.url), tls) }
        #expect(error?.code == .tlsFailed)
        #expect(server.requests.isEmpty)
    }

    @Test func urlSessionOnLinuxRefusesACheck() async throws {
        let transport = URLSessionTransport(tls: .system.checkingServers { _, _, _ in })
        let url = try #require(URL(string: "https://localhost:9/"))
        let error = await #expect(throws: TransportError.self) { try await transport.send(HTTPRequest(url: url)) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("a check of each server") == true)
    }

    @Test func pinFailuresAreReportedAndStillThrown() async throws {
        let fixture = try TLSFixture()
        let reports = Mutex<[PinningError]>([])
        let reported = { @Sendable (error: PinningError) in reports.withLock { $0.append(error) } }
        let wrong = TLSConfiguration.pinned([CurlPinningTests.otherPin], trust: fixture.trust)
        let failure = try await expectRefusal(fixture, wrong.reportingPinFailures(to: reported))
        #expect(reports.withLock { $0 } == [try #require(failure.underlying as? PinningError)])

        let right = TLSConfiguration.pinned([fixture.identity.chain[0].publicKeyPin], trust: fixture.trust)
        #expect(try await send(fixture.request(), right.reportingPinFailures(to: reported)).status == 200)
        #expect(reports.withLock { $0.count } == 1)
    }

    @Test func reportAloneNeedsNoOtherVerification() {
        #expect(TLSConfiguration.system.reportingPinFailures { _ in }.isPlain)
        #expect(!TLSConfiguration.system.checkingServers { _, _, _ in }.isPlain)
    }
}
#endif
