#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTesting
import Testing

extension NginxTLSTests {
    /// libcurl drops trailers over HTTP/2, so a kept connection that speaks HTTP/2 must not carry them.
    @Test func requestWithTrailersGoesOverHTTP1BesideAnHTTP2Connection() async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: "ssl http2", server: "location = /put { return 200; }") { server in
            let transport = fixture.transport(fixture.tls, .http2)
            var request = HTTPRequest(method: .put, url: try server.url("/put", scheme: "https"), body: "content")
            func version() async throws -> HTTPVersion? {
                try await transport.send(request).context.connection?.httpVersion
            }
            #expect(try await version() == .http2)
            request.context.requestTrailers = HTTPTrailers(["X-A": "1"])
            #expect(try await version() == .http11)
            request.context.requestTrailers = nil
            #expect(try await version() == .http2)
            await transport.shutDown()
        }
    }
}
#endif
