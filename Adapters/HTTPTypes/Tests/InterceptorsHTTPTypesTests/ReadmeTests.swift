import Foundation
import HTTPTypes
import Interceptors
import InterceptorsHTTPTypes
import InterceptorsStubs
import Testing

// The examples of the README.

func forward(
    _ incoming: HTTPTypes.HTTPRequest,
    body: HTTPBody,
    to client: Client
) async throws -> (HTTPTypes.HTTPResponse, HTTPBody) {
    let response = try await client.send(Interceptors.HTTPRequest(incoming, body: body))
    return (try HTTPTypes.HTTPResponse(response), response.body)
}

typealias WireRequest = HTTPTypes.HTTPRequest
typealias AppRequest = Interceptors.HTTPRequest

@Suite(.timeLimit(.minutes(10))) struct ReadmeTests {
    @Test func requestIsForwarded() async throws {
        let client = Client(interceptors: [], transport: .stub(.text("ok")))
        let incoming = WireRequest(method: .post, scheme: "https", authority: "e.com", path: "/a")
        let (response, body) = try await forward(incoming, body: "abc", to: client)
        #expect(body.data == Data("ok".utf8))
        #expect(response.status == .ok && response.headerFields[.contentType]?.hasPrefix("text/plain") == true)
        #expect(try AppRequest(incoming).url.absoluteString == "https://e.com/a")
    }
}
