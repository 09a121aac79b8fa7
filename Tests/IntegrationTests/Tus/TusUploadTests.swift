#if os(Linux)
import InterceptorsTransfers
import Foundation
import Interceptors
import InterceptorsTestSupport
import Synchronization
import Testing

/// Uploads to a tus server that this project didn't write.
@Suite(.againstHanging, .heavy, .serialized, .checksArchive, .needsTusServer)
struct TusUploadTests {
    private static let film = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    /// tuspyserver refuses questions about an upload without these.
    private static let metadata = ["filename": "film.mp4", "filetype": "video/mp4"]

    private func client() -> Client { Client(interceptors: [.followRedirects(), .retry(maxAttempts: 3)]) }

    @Test func aFileIsUploaded() async throws {
        try await TusServer.run { server in
            let folder = try TemporaryFolder()
            let body = try HTTPBody(file: try folder.write(Self.film))
            let seen = Mutex<TransferProgress?>(nil)
            try await client().upload(
                .stream(body, type: nil),
                to: RequestTarget(server.url("/files/")),
                resuming: .tus(metadata: Self.metadata)
            ) { report in seen.withLock { $0 = report } }
            #expect(server.contents == [Self.film])
            #expect(seen.withLock { $0 } == TransferProgress(completed: 3_000_000, total: 3_000_000))
        }
    }

    @Test func partsMakeTheWhole() async throws {
        try await TusServer.run { server in
            try await client().upload(
                .data(Self.film, type: nil),
                to: RequestTarget(server.url("/files/")),
                resuming: .tus(metadata: Self.metadata, partLimit: 1_000_000)
            )
            #expect(server.contents == [Self.film])
        }
    }

    @Test func anotherLaunchGoesOnAfterACancellation() async throws {
        try await TusServer.run { server in
            let target = RequestTarget(try server.url("/files/"))
            let saved = Mutex<UnfinishedUpload?>(nil)
            let resuming = UploadResuming.tus(metadata: Self.metadata).acrossLaunches { upload in
                saved.withLock { $0 = upload }
            }
            let task = Task {
                try await client().upload(.data(Self.film, type: nil), to: target, resuming: resuming) { progress in
                    // The task cancels itself, so that no timing matters.
                    if progress.completed > 1_000_000 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            // The transport may have reported the progress from another thread.
            _ = await task.result
            let upload = try #require(saved.withLock { $0 })
            try await client().upload(
                .data(Self.film, type: nil),
                to: target,
                resuming: .tus.acrossLaunches(from: upload) { _ in }
            )
            #expect(server.contents == [Self.film])
        }
    }

    @Test func anUploadIsCancelledAtTheServer() async throws {
        try await TusServer.run { server in
            let target = RequestTarget(try server.url("/files/"))
            let saved = Mutex<UnfinishedUpload?>(nil)
            let resuming = UploadResuming.tus(metadata: Self.metadata, partLimit: 1_000_000).trying(for: .zero)
                .acrossLaunches { upload in saved.withLock { $0 = upload } }
            let parts = Mutex(0)
            let breaking = Client(interceptors: [
                .intercept { request, next in
                    let isSecond =
                        request.method == .patch
                        && parts.withLock {
                            $0 += 1; return $0
                        } == 2
                    if isSecond { throw TransportError(.connectionLost, "The test breaks the connection.") }
                    return try await next(request)
                }
            ])
            let error = await #expect(throws: TransportError.self) {
                try await breaking.upload(.data(Self.film, type: nil), to: target, resuming: resuming)
            }
            #expect(error?.code == .connectionLost)
            #expect(server.contents.map(\.count) == [1_000_000])
            let upload = try #require(saved.withLock { $0 })
            try await client().cancelUpload(upload)
            #expect(server.contents.isEmpty)
            try await client().cancelUpload(upload)
        }
    }

    @Test func emptyContentIsUploaded() async throws {
        try await TusServer.run { server in
            try await client().upload(
                .data(Data(), type: nil),
                to: RequestTarget(server.url("/files/")),
                resuming: .tus
            )
            #expect(server.contents == [Data()])
        }
    }
}
#endif
