import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@Suite(.againstHanging) struct ClientDownloadTests {
    @Test func aDownloadIsTheFileAndItsResponse() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("film.mp4")
        let stub = StubTransport()
        stub.on(.get, "/v1/film.mp4", .status(200, headers: ["ETag": "\"1\""], body: "abcd"))
        let seen = Mutex(false)
        let response = try await makeClient(stub).download("/film.mp4", to: file) { _ in seen.withLock { $0 = true } }
        #expect(try Data(contentsOf: file) == Data("abcd".utf8))
        #expect(response.headers[.eTag] == "\"1\"")
        let sent = try #require(stub.requests.first)
        #expect(sent.context.responseBody == .streamed)
        sent.context.downloadProgress?(TransferProgress(completed: 1, total: nil))
        #expect(seen.withLock { $0 })
    }

    @Test func aDownloadOfAnErrorPageThrowsAndLeavesTheFile() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("film.mp4")
        try Data("old".utf8).write(to: file)
        let stub = StubTransport()
        stub.on(.get, "/v1/film.mp4", .status(404, body: "not here"))
        let failure = await #expect(throws: StatusError.self) {
            try await makeClient(stub).download("/film.mp4", to: file)
        }
        #expect(failure?.code == .unacceptedStatus)
        #expect(failure?.response?.status == 404)
        #expect(failure?.response?.body.data == Data("not here".utf8))
        #expect(failure?.errorDescription == "This could not be found.")
        #expect(failure?.description.hasPrefix("StatusError: 404 Not Found is not a success.") == true)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test func aDownloadBeyondItsLimitThrowsAndLeavesNoFile() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("film.mp4")
        let url = try #require(URL(string: "https://other.example.com/film.mp4"))
        let stub = StubTransport()
        stub.on(.get, "https://other.example.com/film.mp4", .stream([Data("abcd".utf8)]))
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub).download(RequestTarget(url), to: file, upTo: 3)
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        #expect(stub.openBodies == 0)
    }
}
