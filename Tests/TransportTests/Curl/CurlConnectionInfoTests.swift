#if os(Linux)
import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct CurlConnectionInfoTests {
    private static let modes = [ResponseBodyMode.buffered, .streamed]

    @Test(arguments: modes) func plainResponseNamesItsPeerAndNoTLS(mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        server.on(.get, "/", .status(200, body: "ok"))
        let transport = CurlTransport()
        // The second response comes over the kept-alive connection.
        for _ in 0..<2 {
            let response = try await transport.send(makeRequest(server, responseBody: mode))
            #expect(
                response.context.connection
                    == HTTPConnectionInfo(httpVersion: .http11, remoteAddress: "127.0.0.1", remotePort: server.port)
            )
            #expect(try await content(of: response) == "ok")
        }
        await transport.shutDown()
    }

    @Test func responseInHTTP10SaysSo() async throws {
        let server = try MockServer()
        server.on(.get, "/", StubAnswer(steps: [.send("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")]))
        let transport = CurlTransport()
        let response = try await transport.send(makeRequest(server))
        #expect(response.context.connection?.httpVersion == .http10)
        await transport.shutDown()
    }

    @Test(arguments: [TLSVersion.tls12, .tls13], modes)
    func responseOverTLSNamesVersionAndCipherSuite(version: TLSVersion, mode: ResponseBodyMode) async throws {
        let fixture = try TLSFixture(maximumVersion: version)
        let transport = CurlTransport(.init(tls: TLSConfiguration(trust: fixture.trust)))
        var request = try fixture.request(host: "127.0.0.1")
        request.context.responseBody = mode
        for _ in 0..<2 {
            let response = try await transport.send(request)
            let connection = try #require(response.context.connection)
            #expect(connection.tlsVersion == version)
            let suite = try #require(connection.cipherSuite)
            // The suites of TLS 1.3 name no key exchange.
            #expect(suite.hasPrefix("TLS_"))
            #expect(suite.contains("_WITH_") == (version == .tls12))
            #expect(connection.httpVersion == .http11 && connection.remoteAddress == "127.0.0.1")
            #expect(try await content(of: response) == "hello")
        }
        await transport.shutDown()
    }

    @Test func throughAProxyThePeerIsTheProxyAndTLSIsTheServers() async throws {
        let fixture = try TLSFixture(maximumVersion: .tls12)
        let other = try TestAuthority(name: "Other")
        // The proxy negotiates TLS 1.3.
        let proxy = try TLSTunnelProxy(other.issue())
        let trust = TLSTrust.only([fixture.root.certificate, other.certificate])
        var configuration = CurlTransport.Configuration(tls: TLSConfiguration(trust: trust))
        configuration.proxy = .url(try #require(URL(string: "https://127.0.0.1:\(proxy.port)")))
        let transport = CurlTransport(configuration)
        let connection = try await transport.send(fixture.request()).context.connection
        #expect(connection?.remotePort == proxy.port)
        #expect(connection?.tlsVersion == .tls12)
        await transport.shutDown()
    }
}
#endif
