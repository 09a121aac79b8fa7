import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Synchronization
import Testing

/// The length that a response announces: its limit, and the total of a download's progress.
@Suite(.againstHanging) struct AnnouncedLengthTests {
    @Test func anAnnouncedLengthBeyondTheLimitIsRefusedBeforeAByteIsRead() async throws {
        let folder = try TemporaryFolder()
        let reads = Tally()
        let stub = StubTransport { _ in
            HTTPResponse(status: 200, body: .oneShot(Chunks(["abcd"], reads: reads), length: 4))
        }
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub).download(
                "/film.mp4",
                to: folder.file("film.mp4"),
                resuming: .withinCall,
                upTo: 3
            )
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(reads.value == 0)
        #expect(stub.openBodies == 0)
    }

    @Test func progressEndsWithTheTotalOfDecodedContent() async throws {
        let folder = try TemporaryFolder()
        let stub = StubTransport { request in
            if request.headers.contains(.acceptEncoding) {
                let fields: HTTPFields = [.contentEncoding: "gzip", .contentLength: "2"]
                return HTTPResponse(status: 200, headers: fields, body: "zz")
            }
            return HTTPResponse(status: 200, body: .oneShot(Chunks(["ab", "cd"])))
        }
        let seen = Mutex<[TransferProgress]>([])
        let file = folder.file("film.mp4")
        try await makeClient(stub).download("/film.mp4", to: file, resuming: .withinCall) { progress in
            seen.withLock { $0.append(progress) }
        }
        #expect(seen.withLock { $0.map(\.completed) } == [2, 4, 4])
        #expect(seen.withLock { $0.map(\.total) } == [nil, nil, 4])
    }

    @Test func progressHasTheTotalOfAResponseWithoutAValidator() async throws {
        let folder = try TemporaryFolder()
        let stub = StubTransport { _ in
            HTTPResponse(status: 200, body: .oneShot(Chunks(["ab", "cd"]), length: 4))
        }
        let last = Mutex<TransferProgress?>(nil)
        try await makeClient(stub).download("/film.mp4", to: folder.file("film.mp4"), resuming: .withinCall) {
            progress in
            last.withLock { $0 = progress }
        }
        #expect(last.withLock(\.self) == TransferProgress(completed: 4, total: 4))
    }
}
