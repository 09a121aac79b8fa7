#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

/// The cache's parts with a server that this project didn't write.
@Suite(.againstHanging, .heavy, .checksArchive, .needsNginx)
struct NginxCacheTests {
    private static let film = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    /// The range and the status of each exchange with the server.
    private final class Exchanges: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock(\.self) }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func client(_ exchanges: Exchanges, _ store: any CacheStore) -> Client {
        let record = AnyInterceptor.intercept { request, next in
            let range = request.headerFields[.range] ?? "-"
            let response = try await next(request)
            exchanges.add("\(range) \(response.status.code)")
            return response
        }
        return Client(interceptors: [.cache(store), record], transport: CurlTransport())
    }

    private func bytes(_ range: String, of url: URL, _ client: Client) async throws -> Data {
        let request = HTTPRequest(url: url, headerFields: [.range: "bytes=\(range)"])
        let response = try await client.send(request)
        #expect(response.status == 206)
        return try await response.body.collect(upTo: 2_000_000)
    }

    @Test(arguments: [false, true]) func partsOfAFileBecomeTheFile(isStreamed: Bool) async throws {
        try await NginxServer.run(server: "add_header Cache-Control max-age=60;") { server in
            try Self.film.write(to: server.files.appending(path: "film"))
            let (folder, exchanges, url) = (try TemporaryFolder(), Exchanges(), try server.url("/film"))
            let client = client(exchanges, DiskCacheStore(at: folder.url))
            #expect(try await bytes("200000-399999", of: url, client) == Self.film[200_000..<400_000])
            #expect(try await bytes("-100000", of: url, client) == Self.film[900_000...])
            #expect(try await bytes("300000-300009", of: url, client) == Self.film[300_000..<300_010])
            for _ in 0..<2 {
                var request = HTTPRequest(url: url)
                if isStreamed { request.context.responseBody = .streamed }
                let response = try await client.send(request)
                #expect(response.status == 200)
                #expect(try await response.body.collect(upTo: 2_000_000) == Self.film)
            }
            #expect(exchanges.all == ["bytes=200000-399999 206", "bytes=-100000 206", "bytes=0-899999 206"])
        }
    }

    @Test func partsOfAFileThatChangedAreReplaced() async throws {
        try await NginxServer.run(server: "add_header Cache-Control max-age=60;") { server in
            try Self.film.write(to: server.files.appending(path: "film"))
            let (exchanges, url) = (Exchanges(), try server.url("/film"))
            let client = client(exchanges, MemoryCacheStore())
            _ = try await bytes("0-99", of: url, client)
            // Another length is another tag, whatever the resolution of the file system's times.
            let new = Data(Self.film.reversed()) + [1]
            try new.write(to: server.files.appending(path: "film"))
            for _ in 0..<2 {
                #expect(try await client.send(HTTPRequest(url: url)).body.collect(upTo: 2_000_000) == new)
            }
            #expect(exchanges.all == ["bytes=0-99 206", "bytes=100- 200"])
        }
    }
}
#endif
