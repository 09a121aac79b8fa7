#if os(Linux)
import InterceptorsTransfers
import Foundation
import Interceptors
import InterceptorsTestSupport
import Synchronization
import Testing

/// Resumed downloads from a server that this project didn't write.
@Suite(.againstHanging, .heavy, .checksArchive, .needsNginx)
struct NginxDownloadTests {
    private static let film = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    /// The `Range` and the status of each exchange.
    private final class Exchanges: Sendable {
        private let all = Mutex<[(range: Bool, status: Int)]>([])

        var ranges: [Bool] { all.withLock { $0.map(\.range) } }
        var statuses: [Int] { all.withLock { $0.map(\.status) } }

        var interceptor: AnyInterceptor {
            .intercept { [self] request, next in
                let range = request.headers.contains(.range)
                let response = try await next(request)
                all.withLock { $0.append((range, response.status.code)) }
                return response
            }
        }
    }

    private func breakOff(
        _ client: Client,
        _ url: URL,
        to file: URL
    ) async throws {
        let task = Task {
            try await client.download(RequestTarget(url), to: file, resuming: .acrossLaunches) { progress in
                // The task cancels itself, so that no timing matters.
                if progress.completed > 1_000_000 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test(arguments: [("", true), ("max_ranges 0;", false), ("gzip on; gzip_types *;", true)])
    func aBrokenDownloadGoesOnIfTheServerHasRanges(directives: String, hasRanges: Bool) async throws {
        try await NginxServer.run(server: directives) { server in
            try Self.film.write(to: server.files.appending(path: "film"))
            let folder = try TemporaryFolder()
            let (file, exchanges) = (folder.file("film"), Exchanges())
            let client = Client(interceptors: [.validateStatus(), exchanges.interceptor], transport: CurlTransport())
            try await breakOff(client, try server.url("/film"), to: file)
            try await client.download(RequestTarget(try server.url("/film")), to: file, resuming: .acrossLaunches)
            #expect(try Data(contentsOf: file) == Self.film)
            // Without ranges, nginx sends `Accept-Ranges: none` or nothing, and ignores the field.
            #expect(exchanges.statuses == [200, hasRanges ? 206 : 200])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["film"])
        }
    }

    @Test(.needsCurl) func curlCompletesThePartOfABrokenDownload() async throws {
        try await NginxServer.run { server in
            try Self.film.write(to: server.files.appending(path: "film"))
            let (folder, url) = (try TemporaryFolder(), try server.url("/film"))
            try await breakOff(Client(interceptors: [], transport: CurlTransport()), url, to: folder.file("film"))
            let part = folder.file(".film.part").path
            let arguments = ["curl", "-s", "-C", "-", "-o", part, url.absoluteString]
            let result = try await Command.run("/usr/bin/env", arguments)
            #expect(result.status == 0, "\(result.complaint)")
            #expect(try Data(contentsOf: folder.file(".film.part")) == Self.film)
        }
    }

    @Test func aFileThatChangedMeanwhileStartsOver() async throws {
        try await NginxServer.run { server in
            try Self.film.write(to: server.files.appending(path: "film"))
            let folder = try TemporaryFolder()
            let (file, exchanges) = (folder.file("film"), Exchanges())
            let client = Client(interceptors: [exchanges.interceptor], transport: CurlTransport())
            try await breakOff(client, try server.url("/film"), to: file)
            // Another length is another tag, whatever the resolution of the file system's times.
            let new = Data(Self.film.reversed()) + [1]
            try new.write(to: server.files.appending(path: "film"))
            try await client.download(RequestTarget(try server.url("/film")), to: file, resuming: .acrossLaunches)
            #expect(try Data(contentsOf: file) == new)
            #expect(exchanges.ranges == [false, true])
            #expect(exchanges.statuses == [200, 200])
        }
    }
}
#endif
