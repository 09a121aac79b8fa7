#if os(Linux)
import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

/// Real handshakes over loopback.
@Suite(.againstHanging) struct CurlPinningTests {
    static let otherPin: CertificatePin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test(arguments: 0..<3)
    func pinOfAnyCertificateOfTheChainMatches(index: Int) async throws {
        let fixture = try TLSFixture()
        let chain = fixture.identity.chain + [fixture.root.certificate]
        for pin in [chain[index].publicKeyPin, chain[index].certificatePin] {
            let response = try await send(fixture.request(), .pinned([pin], trust: fixture.trust))
            #expect(response.status == 200)
        }
    }

    @Test func oneMatchingPinAmongBackupsIsEnough() async throws {
        let fixture = try TLSFixture()
        let pins = [Self.otherPin, fixture.identity.chain[0].publicKeyPin]
        let response = try await send(fixture.request(), .pinned(pins, trust: fixture.trust))
        #expect(response.status == 200)
    }

    @Test func wrongPinSendsNothingAndNamesHostAndPins() async throws {
        let fixture = try TLSFixture()
        let failure = try await expectRefusal(fixture, .pinned([Self.otherPin], trust: fixture.trust))
        let error = try #require(failure.underlying as? PinningError)
        #expect(error.host == "localhost")
        #expect(error.expected == [Self.otherPin])
        #expect(error.chain == fixture.identity.chain + [fixture.root.certificate])
        for certificate in error.chain {
            #expect(failure.description.contains(certificate.publicKeyPin.description))
        }
        #expect(failure.description.contains(Self.otherPin.description))
        #expect(fixture.server.handshakesCompleted == 0)
    }

    @Test func emptyListOfPinsMatchesNothing() async throws {
        let fixture = try TLSFixture()
        _ = try await expectRefusal(fixture, .pinned([CertificatePin](), trust: fixture.trust))
    }

    @Test func pinsOfAnotherHostDoNotMatter() async throws {
        let fixture = try TLSFixture()
        let tls = TLSConfiguration.pinned(["example.com": [Self.otherPin]], trust: fixture.trust)
        #expect(try await send(fixture.request(), tls).status == 200)
    }

    @Test(arguments: ["127.0.0.1", "LOCALHOST", "loc%61lhost", "127.1", "0x7f.0.0.1", "2130706433"])
    func spellingOfTheHostIsNoWayAroundPins(host: String) async throws {
        let fixture = try TLSFixture(hosts: ["localhost", "127.0.0.1"])
        let pins: [HostPattern: [CertificatePin]] = ["127.0.0.1": [Self.otherPin], "localhost": [Self.otherPin]]
        let failure = try await expectRefusal(fixture, .pinned(pins, trust: fixture.trust), host: host)
        #expect(failure.underlying is PinningError)
    }

    @Test func pinsHoldOnTopOfTrust() async throws {
        let pinned = { (fixture: TLSFixture) in fixture.identity.chain[0].publicKeyPin }

        let past = Date(timeIntervalSinceNow: -7200)..<Date(timeIntervalSinceNow: -3600)
        let expired = try TLSFixture(validity: past)
        let failure = try await expectRefusal(expired, .pinned([pinned(expired)], trust: expired.trust))
        #expect(failure.message.contains("expired"))

        let elsewhere = try TLSFixture(hosts: ["elsewhere.example"])
        let mismatch = try await expectRefusal(elsewhere, .pinned([pinned(elsewhere)], trust: elsewhere.trust))
        #expect(mismatch.message.contains("localhost"))

        let untrusted = try TLSFixture()
        _ = try await expectRefusal(untrusted, .pinned([pinned(untrusted)]))
    }

    @Test func manInTheMiddleWithATrustedRootIsRefused() async throws {
        let genuine = try TLSFixture()
        // Has the same names and a root that the client also trusts, and sends the genuine certificates along.
        let rogue = try TestAuthority()
        let forged = try rogue.issue()
        let identity = forged.sendingAlong(genuine.identity.chain)
        let server = try MockServer(tls: identity)
        let trust = TLSTrust.only([genuine.root.certificate, rogue.certificate])
        let url = try #require(URL(string: "https://localhost:\(server.port)/"))

        #expect(try await send(HTTPRequest(url: url), TLSConfiguration(trust: trust)).status == 404)
        server.closeConnections()
        let pins = [genuine.identity.chain[0], genuine.intermediate.certificate, genuine.root.certificate]
        let error = await #expect(throws: TransportError.self) {
            try await send(HTTPRequest(url: url), .pinned(pins.map(\.publicKeyPin), trust: trust))
        }
        #expect((error?.underlying as? PinningError)?.chain == [forged.chain[0], rogue.certificate])
        #expect(server.requests.count == 1)
    }

    @Test func hostWithPinsIsNotCalledWithoutTLS() async throws {
        let server = try MockServer()
        let error = await #expect(throws: TransportError.self) {
            try await send(HTTPRequest(url: server.url), .pinned(["127.0.0.1": [Self.otherPin]]))
        }
        #expect(error?.code == .tlsFailed)
        #expect(server.connectionsOpened == 0)
    }
}

/// Proxies that clients connect to over TLS.
@Suite(.againstHanging) struct CurlPinnedProxyTests {
    private func send(_ fixture: TLSFixture, _ tls: TLSConfiguration, proxy host: String) async throws -> HTTPResponse {
        var configuration = CurlTransport.Configuration(tls: tls)
        configuration.proxy = .url(try #require(URL(string: "https://\(host):\(fixture.server.port)")))
        let transport = CurlTransport(configuration)
        let url = try #require(URL(string: "http://elsewhere.invalid/secret"))
        let result: Result<HTTPResponse, any Error>
        do {
            result = .success(try await transport.send(HTTPRequest(url: url)))
        } catch {
            result = .failure(error)
        }
        await transport.shutDown()
        return try result.get()
    }

    @Test func rightPinOfTheProxyLetsTheRequestThrough() async throws {
        let fixture = try TLSFixture()
        let pin = fixture.intermediate.certificate.publicKeyPin
        let tls = TLSConfiguration.pinned(["localhost": [pin]], trust: fixture.trust)
        #expect(try await send(fixture, tls, proxy: "localhost").status == 200)
    }

    @Test func wrongPinOfTheProxySendsNothing() async throws {
        let fixture = try TLSFixture()
        let tls = TLSConfiguration.pinned(["localhost": [CurlPinningTests.otherPin]], trust: fixture.trust)
        let error = await #expect(throws: TransportError.self) { try await send(fixture, tls, proxy: "localhost") }
        #expect((error?.underlying as? PinningError)?.host == "localhost")
        #expect(fixture.server.requests.isEmpty)
    }

    @Test func exemptionOfTheRequestsHostIsNoneOfTheProxys() async throws {
        let fixture = try TLSFixture()
        let tls = TLSConfiguration.system.dangerouslyAcceptingInvalidCertificates(from: "elsewhere.invalid")
        for proxy in ["localhost", "127.0.0.1"] {
            let error = await #expect(throws: TransportError.self) { try await send(fixture, tls, proxy: proxy) }
            #expect(error?.code == .tlsFailed)
        }
        #expect(fixture.server.requests.isEmpty)
    }
}

/// Cases in which libcurl alone would let a request past its pins.
@Suite(.againstHanging) struct CurlPinBypassTests {
    @Test func keptAliveConnectionOfAnotherTransportIsNotUsed() async throws {
        let fixture = try TLSFixture()
        let open = CurlTransport(.init(tls: TLSConfiguration(trust: fixture.trust)))
        #expect(try await open.send(fixture.request()).status == 200)
        let pinned = CurlTransport(.init(tls: .pinned([CurlPinningTests.otherPin], trust: fixture.trust)))
        for _ in 0..<3 {
            let request = try fixture.request()
            let error = await #expect(throws: TransportError.self) { try await pinned.send(request) }
            #expect(error?.underlying is PinningError)
        }
        #expect(try await open.send(fixture.request()).context.timings?.reusedConnection == true)
        #expect(fixture.server.requests.count == 2)
        await open.shutDown()
        await pinned.shutDown()
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func sessionsAreNeverResumed(version: TLSVersion) async throws {
        let fixture = try TLSFixture(maximumVersion: version)
        let pin = fixture.identity.chain[0].publicKeyPin
        let transport = CurlTransport(.init(tls: .pinned([pin], trust: fixture.trust)))
        for round in 1...3 {
            #expect(try await transport.send(fixture.request()).status == 200)
            fixture.server.closeConnections()
            await fixture.server.openedConnections(round)
        }
        #expect(fixture.server.handshakesCompleted == 3)
        #expect(fixture.server.sessionsResumed == 0)
        await transport.shutDown()
    }

    @Test func connectionToAnotherNameOfTheSameServerIsNotUsed() async throws {
        let fixture = try TLSFixture()
        let pins: [HostPattern: [CertificatePin]] = ["127.0.0.1": [CurlPinningTests.otherPin]]
        let transport = CurlTransport(.init(tls: .pinned(pins, trust: fixture.trust)))
        #expect(try await transport.send(fixture.request(host: "localhost")).status == 200)
        let request = try fixture.request(host: "127.0.0.1")
        let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
        #expect(error?.underlying is PinningError)
        #expect(fixture.server.requests.count == 1)
        await transport.shutDown()
    }

    @Test func concurrentRequestsAreAllRefused() async throws {
        let fixture = try TLSFixture()
        let transport = CurlTransport(.init(tls: .pinned([CurlPinningTests.otherPin], trust: fixture.trust)))
        let request = try fixture.request()
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    do {
                        _ = try await transport.send(request)
                        return false
                    } catch {
                        return (error as? TransportError)?.underlying is PinningError
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(failures == 100)
        #expect(fixture.server.requests.isEmpty)
        await transport.shutDown()
    }

    @Test func connectionOutlivesTheTransferThatMadeIt() async throws {
        let fixture = try TLSFixture()
        let pin = fixture.identity.chain[0].publicKeyPin
        let transport = CurlTransport(.init(tls: .pinned([pin], trust: fixture.trust)))
        for _ in 0..<20 { #expect(try await transport.send(fixture.request()).status == 200) }
        #expect(fixture.server.handshakesCompleted == 1)
        await transport.shutDown()
    }
}
#endif
