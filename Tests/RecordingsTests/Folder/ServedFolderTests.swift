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
            ".home": "https://api.example.com", "GET/start.302.head": "Location: https://api.example.com/next?x=1",
            "GET/next?x=1.307.head": "Location: https://cdn.example.com//last#part",
            "cdn.example.com/GET/^/last.txt": "the end",
            "cdn.example.com/GET/^/last.txt.head": "Content-Location: https://cdn.example.com//last",
        ])
        let server = try MockServer(serving: folder.url)
        let client = Client(baseURL: server.url, interceptors: [.followRedirects()])
        let response = try await client.send(HTTPRequest(url: server.url.appending(path: "start")))
        #expect(response.status == 200)
        #expect(response.body.bytes == Data("the end".utf8))
        #expect(response.headerFields["Content-Location"] == "/.//last")
        #expect(server.requests.map(\.target) == ["/start", "/next?x=1", "//last"])
        #expect(response.url?.host() == "127.0.0.1")
    }

    @Test func namesAreComputedWithTheRedactionOfTheRecording() async throws {
        let folder = TemporaryFolder.absent()
        let redaction = Redaction.standard.adding(names: ["frob"])
        let replacing: @Sendable (String) -> String = { $0.replacing("Manhattan", with: "project") }
        let stub = StubTransport()
        stub.enqueue(.text("kept"))
        let record: AnyInterceptor = .record(to: folder.url, redaction: redaction, replacing: replacing)
        let path = "/Manhattan?frob=1"
        let url = try #require(URL(string: "https://api.example.com" + path))
        _ = try await InterceptorChain([record], transport: stub)
            .send(HTTPRequest(method: .post, url: url, body: "frob=1&a=Manhattan"))
        let server = try MockServer(serving: folder.url, redaction: redaction, replacing: replacing)
        let sent = HTTPRequest(
            method: .post,
            url: try #require(URL(string: server.url.absoluteString + path)),
            body: "frob=2&a=Manhattan"
        )
        #expect(try await PlatformTransport().send(sent).body.bytes == Data("kept".utf8))
        let other = try MockServer(serving: folder.url)
        let unknown = HTTPRequest(method: .post, url: try #require(URL(string: other.url.absoluteString + path)))
        #expect(try await PlatformTransport().send(unknown).status == 404)
    }
}
