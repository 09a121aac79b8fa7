import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// A folder on loopback.
@Suite(.againstHanging) struct ServedFolderTests {
    @Test func aClientThatFollowsRedirectsStaysOnLoopback() async throws {
        let folder = try AnswerFolder([
            "api.example.com/GET/start.head": "HTTP/1.1 302\nLocation: https://api.example.com/next?x=1",
            "GET/next?x=1.head": "HTTP/1.1 307\nLocation: https://cdn.example.com//last#part",
            "cdn.example.com/GET/index/last.txt": "the end",
            "cdn.example.com/GET/index/last.txt.head": "Content-Location: https://cdn.example.com//last",
        ])
        let server = try MockServer(serving: folder.url)
        let client = Client(baseURL: server.url, interceptors: [.followRedirects()])
        let response = try await client.send(HTTPRequest(url: server.url.appending(path: "start")))
        #expect(response.status == 200)
        #expect(response.body.data == Data("the end".utf8))
        #expect(response.headers["Content-Location"] == "/.//last")
        #expect(server.requests.map(\.target) == ["/start", "/next?x=1", "//last"])
        #expect(response.url?.host() == "127.0.0.1")
    }
}
