#if os(Linux)
import Foundation
import Glibc
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting
@testable import InterceptorsTransport

/// The names in a certificate: RFC 9525.
@Suite(.againstHanging) struct CurlNamesTests {
    private static func server(_ root: TestAuthority) throws -> MockServer {
        let server = try MockServer(tls: root.issue(commonNameOnly: "localhost"))
        server.on(nil, "/**", .status(200, body: "hello"))
        return server
    }

    @Test func certificateThatNamesItsHostInTheCommonNameAloneIsRefused() async throws {
        let root = try TestAuthority()
        let server = try Self.server(root)
        let pins = [root.certificate.publicKeyPin]
        let url = try #require(URL(string: "https://localhost:\(server.port)/"))
        for tls in [
            TLSConfiguration(trust: .only([root.certificate])), .pinned(pins, trust: .only([root.certificate])),
        ] {
            let error = try await failure { try await send(HTTPRequest(url: url), tls) }
            #expect(error.code == .tlsFailed)
            #expect(error.message.contains("subjectAltName"), "\(error)")
            // If any name is accepted, a certificate without names is, too.
            let response = try await send(
                HTTPRequest(url: url),
                tls.dangerouslyAcceptingAnyHostName(from: "localhost")
            )
            #expect(try await content(of: response) == "hello")
        }
        #expect(server.requests.count == 2)
    }

    /// OpenSSL falls back to the common name if no alternative name is a host.
    @Test(arguments: ["email:me@localhost", "URI:https://localhost/", "RID:1.2.3.4"])
    func certificateWhoseAlternativeNamesNameNoHostIsRefused(names: String) async throws {
        let kind = try #require(CertificateMaker.server(["localhost"]).last).0
        let made = try CertificateMaker.make("localhost", nil, CertificateMaker.server([]) + [(kind, names)])
        let identity = TestIdentity(chain: [made.certificate], key: made.key)
        let server = try MockServer(tls: identity)
        server.on(nil, "/**", .status(200, body: "hello"))
        let request = HTTPRequest(url: try #require(URL(string: "https://localhost:\(server.port)/")))
        let tls = TLSConfiguration(trust: .only(identity.chain))
        let error = try await failure { try await send(request, tls) }
        #expect(error.code == .tlsFailed)
        #expect(error.message.contains("subjectAltName"), "\(error)")
        #expect(server.requests.isEmpty)
    }

    #if compiler(>=6.3)
    // An environment variable of the whole process names the system's roots.
    @Test func certificateWithACommonNameAloneIsRefusedWithoutAnySettings() async {
        await #expect(processExitsWith: .success) {
            let root = try TestAuthority()
            let folder = try TemporaryFolder()
            let pem = root.certificate.der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            let text = "-----BEGIN CERTIFICATE-----\n\(pem)\n-----END CERTIFICATE-----\n"
            setenv("SSL_CERT_FILE", try folder.write(Data(text.utf8)).path, 1)
            let (bad, good) = (try Self.server(root), try MockServer(tls: root.issue()))
            good.on(nil, "/**", .status(200, body: "hello"))
            let transport = CurlTransport()
            for _ in 0..<3 {
                let url = try #require(URL(string: "https://localhost:\(bad.port)/"))
                let error = try await failure { try await transport.send(HTTPRequest(url: url)) }
                #expect(error.code == .tlsFailed)
                #expect(error.message.contains("subjectAltName"), "\(error)")
                #expect(try await content(of: transport.send(HTTPRequest(url: good.url))) == "hello")
            }
            #expect(bad.requests.isEmpty && good.connectionsOpened == 1)
            await transport.shutDown()
        }
    }
    #endif

    /// The proxy's certificate must match the proxy's host, whether a name or an address.
    @Test(arguments: ["127.0.0.1", "localhost"], ["127.0.0.1", "localhost"])
    func proxyIsNotHeldToThePinsOfTheOrigin(proxyHost: String, host: String) async throws {
        let (root, other) = (try TestAuthority(), try TestAuthority(name: "Other"))
        let server = try MockServer(tls: root.issue(for: [host]))
        server.on(nil, "/**", .status(200, body: "hello"))
        let proxy = try TLSTunnelProxy(other.issue(for: [proxyHost]))
        let trust = TLSTrust.only([root.certificate, other.certificate])
        func send(_ pins: [HostPattern: [CertificatePin]]) async throws -> HTTPResponse {
            var configuration = CurlTransport.Configuration(tls: .pinned(pins, trust: trust))
            configuration.proxy = .url(try #require(URL(string: "https://\(proxyHost):\(proxy.port)")))
            let transport = CurlTransport(configuration)
            let url = try #require(URL(string: "https://\(host):\(server.port)/"))
            return try await transport.send(HTTPRequest(url: url))
        }
        let (own, foreign) = (root.certificate.publicKeyPin, other.certificate.publicKeyPin)
        if proxyHost != host {
            let (pattern, proxyPattern) = (try HostPattern(parsing: host), try HostPattern(parsing: proxyHost))
            #expect(try await content(of: send([pattern: [own]])) == "hello")
            #expect(try await content(of: send([pattern: [own], proxyPattern: [foreign]])) == "hello")
            let error = try await failure { try await send([pattern: [own], proxyPattern: [own]]) }
            #expect(error.underlying is PinningError)
        }
        // A pin for every host also applies to the proxy.
        let error = try await failure { try await send([.any: [own]]) }
        #expect((error.underlying as? PinningError)?.host == proxyHost)
        #expect(try await content(of: send([.any: [own, foreign]])) == "hello")
    }

    @Test func bytesThatTheTLSOfAProxyHoldsAnswerNoRequest() async throws {
        let root = try TestAuthority()
        let server = try MockServer(tls: root.issue())
        let proxy = try TLSTunnelProxy(root.issue())
        server.on(.get, "/first") { _ in
            StubAnswer(steps: [
                .run { proxy.hold() },
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .send("ok"),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"),
                .run { proxy.release() },
            ])
        }
        server.on(.get, "/next", .status(200, body: "good"))
        for tls in [TLSConfiguration(trust: .only([root.certificate]))] {
            var configuration = CurlTransport.Configuration(tls: tls)
            configuration.proxy = .url(try #require(URL(string: "https://127.0.0.1:\(proxy.port)")))
            let transport = CurlTransport(configuration)
            for _ in 0..<5 {
                #expect(try await content(of: transport.send(makeRequest(server, "/first"))) == "ok")
                #expect(try await content(of: transport.send(makeRequest(server, "/next"))) == "good")
            }
            // A silent tunnel is used again.
            let opened = proxy.count
            for _ in 0..<3 { _ = try await transport.send(makeRequest(server, "/next")) }
            #expect(proxy.count == opened)
            await transport.shutDown()
        }
    }
}
#endif
