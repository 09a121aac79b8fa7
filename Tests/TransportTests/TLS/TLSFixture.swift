#if os(Linux)
import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

/// A root, an intermediate, and a server with a certificate from the intermediate.
struct TLSFixture {
    let root: TestAuthority
    let intermediate: TestAuthority
    let identity: TestIdentity
    let server: MockServer

    init(
        rootName: String = "Test Root",
        hosts: [String] = ["localhost", "127.0.0.1"],
        validity: Range<Date>? = nil,
        maximumVersion: TLSVersion = .tls13,
        clientRoots: [TLSCertificate]? = nil
    ) throws {
        root = try TestAuthority(name: rootName)
        intermediate = try root.intermediate()
        identity = try intermediate.issue(for: hosts, validity: validity)
        server = try MockServer(
            tls: identity,
            clientRoots: clientRoots,
            maximumVersion: maximumVersion
        )
        server.on(nil, "/**") { _ in StubAnswer.status(200, body: "hello") }
    }

    var trust: TLSTrust { .only([root.certificate]) }

    func request(host: String = "localhost", method: HTTPRequest.Method = .get) throws -> HTTPRequest {
        HTTPRequest(method: method, url: try #require(URL(string: "https://\(host):\(server.port)/secret")))
    }
}

/// Sends a request over a new transport.
func send(_ request: HTTPRequest, _ tls: TLSConfiguration) async throws -> HTTPResponse {
    let transport = CurlTransport(.init(tls: tls))
    do {
        let response = try await transport.send(request)
        await transport.shutDown()
        return response
    } catch {
        await transport.shutDown()
        throw error
    }
}

/// Expects TLS to fail before the request reaches the server.
func expectRefusal(
    _ fixture: TLSFixture,
    _ tls: TLSConfiguration,
    host: String = "localhost",
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> TransportError {
    let request = try fixture.request(host: host)
    let error = await #expect(throws: TransportError.self, sourceLocation: sourceLocation) {
        try await send(request, tls)
    }
    let failure = try #require(error, sourceLocation: sourceLocation)
    #expect(failure.code == .tlsFailed, "\(failure)", sourceLocation: sourceLocation)
    #expect(fixture.server.requests.isEmpty, sourceLocation: sourceLocation)
    return failure
}
#endif
