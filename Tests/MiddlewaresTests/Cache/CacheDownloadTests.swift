import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

@Suite(.againstHanging) struct CacheDownloadTests {
    private func requests(of resuming: DownloadResuming?) async throws -> Int {
        let stub = StubTransport { _ in
            HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentLength: "4"],
                body: "film"
            )
        }
        let client = Client(
            baseURL: URL(string: "https://api.example.com"),
            interceptors: [.cache(.memory())],
            transport: stub
        )
        let folder = try TemporaryFolder()
        for name in ["a", "b"] {
            if let resuming {
                try await client.download("/film", to: folder.file(name), resuming: resuming)
            } else {
                try await client.download("/film", to: folder.file(name))
            }
            #expect(try Data(contentsOf: folder.file(name)) == Data("film".utf8))
        }
        let film: Data = try await client.get("/film")
        #expect(film == Data("film".utf8))
        return stub.requests.count
    }

    @Test func aDownloadThatResumesIsNeitherServedNorStored() async throws {
        #expect(try await requests(of: nil) == 1, "an ordinary download is like any GET")
        #expect(try await requests(of: .withinCall) == 3)
        #expect(try await requests(of: .acrossLaunches) == 3)
    }
}
