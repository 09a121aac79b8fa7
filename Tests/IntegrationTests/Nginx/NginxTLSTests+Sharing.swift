#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTesting
import Testing

extension NginxTLSTests {
    @Test func requestsThatShareAConnectionOfHTTP2DoNotWaitForEachOther() async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: "ssl http2") { server in
            try Data(count: 10_000_000).write(to: server.files.appending(path: "large"))
            let transport = CurlTransport(tls: fixture.tls, connectionsPerHost: 1)
            var request = HTTPRequest(url: try server.url("/large", scheme: "https", host: "localhost"))
            request.context.responseBody = .streamed
            // Unread, so it uses the only connection until its end.
            let open = try await transport.send(request)
            let about = HTTPRequest(url: try server.url("/about", scheme: "https", host: "localhost"))
            for _ in 0..<3 { #expect(try await transport.send(about).context.connection?.httpVersion == .http2) }
            #expect(try await open.body.collect(upTo: 10_000_000).count == 10_000_000)
            await transport.shutDown()
        }
    }
}
#endif
