import AsyncHTTPClient
import Foundation
import Interceptors
import InterceptorsAsyncHTTPClient
import InterceptorsTesting
import NIOSSL
import Testing

// The examples of the README.

func makeClient(_ baseURL: URL, _ tls: NIOSSL.TLSConfiguration) -> Client {
    let transport = AsyncHTTPClientTransport(timeouts: Timeouts(connect: .seconds(5))) { configuration in
        configuration.tlsConfiguration = tls
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    }
    return Client(baseURL: baseURL, interceptors: [.validateStatus(), .retry(maxAttempts: 3)], transport: transport)
}

@Suite(.timeLimit(.minutes(10))) struct ReadmeTests {
    @Test func clientCalls() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a", .text("ok"))
        let client = makeClient(server.url, .makeClientConfiguration())
        #expect(try await client.get("/a", as: String.self) == "ok")
    }
}
