#if os(Linux)
import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct CurlTrustTests {
    @Test func anchorsAloneOrAddedAreTrusted() async throws {
        let fixture = try TLSFixture()
        for trust in [TLSTrust.only([fixture.root.certificate]), .system(adding: [fixture.root.certificate])] {
            #expect(try await send(fixture.request(), TLSConfiguration(trust: trust)).status == 200)
        }
    }

    @Test func intermediateOrTheServersOwnCertificateMayBeTheAnchor() async throws {
        let fixture = try TLSFixture()
        for certificate in fixture.identity.chain {
            #expect(try await send(fixture.request(), TLSConfiguration(trust: .only([certificate]))).status == 200)
        }
    }

    @Test func chainOfSeveralIntermediatesIsTrustedByItsRootAlone() async throws {
        let root = try TestAuthority()
        let authority = try root.intermediate(name: "First").intermediate(name: "Second")
        let identity = try authority.issue()
        #expect(identity.chain.map(\.subject) == ["CN=localhost", "CN=Second", "CN=First"])
        let server = try MockServer(tls: identity)
        let url = try #require(URL(string: "https://localhost:\(server.port)/"))
        let pin = try #require(identity.chain.last).publicKeyPin
        let tls = TLSConfiguration.pinned([pin], trust: .only([root.certificate]))
        #expect(try await send(HTTPRequest(url: url), tls).status == 404)
    }

    @Test func unknownRootIsRefused() async throws {
        let fixture = try TLSFixture()
        _ = try await expectRefusal(fixture, .system)
        _ = try await expectRefusal(fixture, TLSConfiguration(trust: .only([try TestAuthority().certificate])))
        _ = try await expectRefusal(fixture, TLSConfiguration(trust: .only([])))
    }

    @Test func anchorsAloneLeaveTheSystemsRootsOut() async throws {
        let fixture = try TLSFixture(rootName: "Another Root")
        let failure = try await expectRefusal(
            fixture,
            TLSConfiguration(trust: .only([try TestAuthority().certificate]))
        )
        #expect(failure.message.contains("localhost"))
    }

    @Test func selfSignedCertificateIsRefusedUnlessItIsTheAnchor() async throws {
        let identity = try TestIdentity.selfSigned()
        let server = try MockServer(tls: identity)
        let url = try #require(URL(string: "https://localhost:\(server.port)/"))
        let error = await #expect(throws: TransportError.self) { try await send(HTTPRequest(url: url), .system) }
        #expect(error?.code == .tlsFailed)
        #expect(server.requests.isEmpty)
        let tls = TLSConfiguration(trust: .only([identity.chain[0]]))
        #expect(try await send(HTTPRequest(url: url), tls).status == 404)
    }

    @Test func certificateOfAnotherHostIsRefused() async throws {
        let fixture = try TLSFixture(hosts: ["localhost"])
        _ = try await expectRefusal(fixture, TLSConfiguration(trust: fixture.trust), host: "127.0.0.1")
    }

    @Test func certificateOfTheFutureIsRefused() async throws {
        let fixture = try TLSFixture(validity: Date(timeIntervalSinceNow: 3600)..<Date(timeIntervalSinceNow: 7200))
        _ = try await expectRefusal(fixture, TLSConfiguration(trust: fixture.trust))
    }

    @Test func clientsCertificateIsNoServers() async throws {
        let root = try TestAuthority()
        let server = try MockServer(tls: root.issue(client: "localhost"))
        let url = try #require(URL(string: "https://localhost:\(server.port)/"))
        let error = await #expect(throws: TransportError.self) {
            try await send(HTTPRequest(url: url), TLSConfiguration(trust: .only([root.certificate])))
        }
        #expect(error?.code == .tlsFailed)
    }

    @Test func minimumVersionIsHeld() async throws {
        let fixture = try TLSFixture(maximumVersion: .tls12)
        var tls = TLSConfiguration(trust: fixture.trust)
        #expect(try await send(fixture.request(), tls).status == 200)
        fixture.server.closeConnections()
        tls.minimumVersion = .tls13
        let request = try fixture.request()
        let error = await #expect(throws: TransportError.self) { try await send(request, tls) }
        #expect(error?.code == .tlsFailed)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func dangerousExemptionsAreForTheirHostAlone() async throws {
        let past = Date(timeIntervalSinceNow: -7200)..<Date(timeIntervalSinceNow: -3600)
        let fixture = try TLSFixture(hosts: ["elsewhere.example"], validity: past)
        let tls = TLSConfiguration.system.dangerouslyAcceptingInvalidCertificates(from: "127.0.0.1")
        _ = try await expectRefusal(fixture, tls)
        #expect(try await send(fixture.request(host: "127.0.0.1"), tls).status == 200)
    }

    @Test func dangerousHostNameExemptionStillDemandsTrust() async throws {
        let fixture = try TLSFixture(hosts: ["elsewhere.example"])
        let exempt = { (tls: TLSConfiguration) in tls.dangerouslyAcceptingAnyHostName(from: "localhost") }
        _ = try await expectRefusal(fixture, exempt(.system))
        #expect(try await send(fixture.request(), exempt(TLSConfiguration(trust: fixture.trust))).status == 200)
    }

    @Test func pinOfAnUnverifiedChainMustBeThatOfTheServersOwnCertificate() async throws {
        let fixture = try TLSFixture()
        let chain = fixture.identity.chain
        let pinned = { (pin: CertificatePin) in
            TLSConfiguration.pinned([pin]).dangerouslyAcceptingInvalidCertificates(from: "localhost")
        }
        // Anyone can send the genuine intermediate along.
        _ = try await expectRefusal(fixture, pinned(chain[1].publicKeyPin))
        #expect(try await send(fixture.request(), pinned(chain[0].publicKeyPin)).status == 200)
    }
}

@Suite(.againstHanging) struct CurlClientIdentityTests {
    @Test func serverThatAsksGetsTheIdentity() async throws {
        let clients = try TestAuthority(name: "Clients")
        let fixture = try TLSFixture(clientRoots: [clients.certificate])
        let issued = try clients.intermediate().issue(client: "Ada")
        var tls = TLSConfiguration(trust: fixture.trust)
        tls.identity = try issued.clientIdentity
        #expect(try await send(fixture.request(), tls).status == 200)
        tls.identity = try ClientIdentity(pkcs12: issued.pkcs12(password: "sesame"), password: "sesame")
        #expect(try await send(fixture.request(), tls).status == 200)
    }

    @Test func transportsTellWhoseCertificateTheyPresent() throws {
        let authority = try TestAuthority(name: "Clients")
        let (ada, bob) = (try authority.issue(client: "Ada"), try authority.issue(client: "Bob"))
        func identities(_ issued: TestIdentity) throws -> [[String]] {
            let tls = TLSConfiguration(identity: try issued.clientIdentity)
            return [CurlTransport(tls: tls).identities, PlatformTransport(tls: tls).identities]
        }
        let found = try identities(ada)
        #expect(found[0] == found[1] && found[0].count == 1)
        #expect(try identities(ada) == found)
        #expect(try identities(bob) != found)
        #expect(PlatformTransport().identities == [])
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func missingOrWrongIdentityIsTheServersRefusal(version: TLSVersion) async throws {
        let clients = try TestAuthority(name: "Clients")
        let fixture = try TLSFixture(maximumVersion: version, clientRoots: [clients.certificate])
        var tls = TLSConfiguration(trust: fixture.trust)
        let missing = try await expectRefusal(fixture, tls)
        tls.identity = try TestAuthority(name: "Others").issue(client: "Eve").clientIdentity
        let wrong = try await expectRefusal(fixture, tls)
        #expect(missing.message.contains("refused"), "\(missing)")
        #expect(wrong.message.contains("TLSConfiguration.identity"), "\(wrong)")
    }

    @Test(arguments: [
        ("tlsv13 alert certificate required", HTTPErrorCode.connectionLost, true),
        ("sslv3 alert bad certificate", .connectionLost, true), ("tlsv1 alert unknown ca", .connectionLost, true),
        ("ssl/tls alert certificate revoked", .connectionLost, true),
        ("sslv3 alert handshake failure", .connectionLost, true), ("sslv3 alert handshake failure", .tlsFailed, true),
        ("tlsv1 alert protocol version", .tlsFailed, true), ("tlsv1 alert internal error", .connectionLost, false),
        ("sslv3 alert bad record mac", .connectionLost, false), ("tlsv1 alert decode error", .connectionLost, false),
        ("sslv3 alert bad certificate", .truncated, false), ("Connection reset by peer", .connectionLost, false),
    ])
    func onlyAlertsAboutTheClientAreRefusals(alert: String, meaning: HTTPErrorCode, isRefusal: Bool) {
        let detail = "OpenSSL SSL_read: error:0A000410:SSL routines::\(alert), errno 0"
        let refusal = CurlTransfer.refusalByServer(meaning, detail)
        #expect(refusal?.code == (isRefusal ? .tlsFailed : nil))
        let asksForAnother = refusal.map { $0.message.contains("TLSConfiguration.identity") }
        #expect(asksForAnother == (isRefusal ? TLSAlert.isAboutIdentity(detail) : nil))
    }
}
#endif
