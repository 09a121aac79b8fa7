import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

/// RFC 9110 §4.2.4: a user in a URL isn't a credential. libcurl would keep it for the handle's next request.
@Suite(.againstHanging) struct UserInURLTests {
    private static var transports: [any Transport] {
        #if os(Linux)
        [URLSessionTransport(), CurlTransport(), StubTransport(fallback: URLSessionTransport())]
        #else
        [URLSessionTransport(), StubTransport(fallback: URLSessionTransport())]
        #endif
    }

    @Test func userInAURLIsRefusedByEachTransportAndReachesNoRequest() async throws {
        let server = try MockServer()
        server.on(.get, "/", .status(200, body: "ok"))
        let transports = Self.transports
        for transport in transports {
            for user in ["ada:sesame", "ada", "ada:"] {
                let url = try #require(URL(string: "http://\(user)@127.0.0.1:\(server.port)/"))
                let error = try await failure { try await transport.send(HTTPRequest(url: url)) }
                #expect(error.code == .unsupportedURL)
                #expect(!"\(error)".contains("sesame"))
            }
            #expect(try await content(of: transport.send(makeRequest(server))) == "ok")
        }
        #expect(server.requests.count == transports.count)
        #expect(server.requests.allSatisfy { !$0.headers.contains(.authorization) })
    }
}
