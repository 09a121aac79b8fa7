import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import InterceptorsUploadServer
import Synchronization
import Testing

/// Uploads that another launch continues.
@Suite(.againstHanging) struct UploadLaunchTests {
    private let content = uploadContent(100)

    /// Uploads once, breaks after 40 bytes and gives up. Returns the saved value as another launch reads it.
    private func begin(_ server: UploadServer, kind: Int, version: String? = nil) async throws -> UnfinishedUpload {
        let saved = Mutex<[UnfinishedUpload]>([])
        let once: UploadResuming = kind == 0 ? .draft.trying(for: .zero) : .tus.trying(for: .zero)
        await #expect(throws: TransportError.self) {
            try await server.client().uploadPieces(
                content,
                resuming: once.acrossLaunches(version: version) { upload in saved.withLock { $0.append(upload) } }
            )
        }
        let all = saved.withLock { $0 }
        #expect(all.count == 1)
        let bytes = try JSONEncoder().encode(try #require(all.first))
        return try JSONDecoder().decode(UnfinishedUpload.self, from: bytes)
    }

    private func server(_ kind: Int) -> UploadServer {
        UploadServer(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)])
    }

    @Test(arguments: 0..<2) func anotherLaunchGoesOn(kind: Int) async throws {
        let server = server(kind)
        let saved = try await begin(server, kind: kind)
        #expect(saved.length == 100)
        try await server.client().uploadPieces(
            content,
            resuming: .bothProtocols[kind].acrossLaunches(from: saved) { _ in Issue.record("nothing new to save") }
        )
        #expect(server.completed == [content])
        #expect(server.methods.suffix(2) == [.head, .patch])
        #expect(server.headers.last?["Upload-Offset"] == "40")
    }

    @Test(arguments: 0..<2) func otherContentIsRefusedBeforeSending(kind: Int) async throws {
        let server = server(kind)
        let saved = try await begin(server, kind: kind)
        let before = server.methods
        var changed = content
        changed[99] ^= 1
        for other in [changed, content.dropLast(), content + [1]] {
            let error = await #expect(throws: TransferError.self) {
                try await server.client().uploadPieces(
                    Data(other),
                    resuming: .bothProtocols[kind].acrossLaunches(from: saved) { _ in }
                )
            }
            #expect(error?.code == .uploadContentChanged)
            #expect(error?.sentNothing == true)
        }
        await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(
                content,
                resuming: .bothProtocols[1 - kind].acrossLaunches(from: saved) { _ in }
            )
        }
        #expect(server.methods == before)
    }

    @Test func theCallersVersionReplacesTheDigest() async throws {
        let server = server(1)
        let saved = try await begin(server, kind: 1, version: "Monday")
        await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(
                content,
                resuming: .hastyTus.acrossLaunches(from: saved, version: "Tuesday") { _ in }
            )
        }
        try await server.client().uploadPieces(
            content,
            resuming: .hastyTus.acrossLaunches(from: saved, version: "Monday") { _ in }
        )
        #expect(server.completed == [content])
    }

    @Test(arguments: 0..<2) func aFileThatWasEditedIsRefused(kind: Int) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(content)
        let server = server(kind)
        let saved = try await begin(server, kind: kind)
        let resuming = UploadResuming.bothProtocols[kind].acrossLaunches(from: saved) { _ in }
        try Data(content.reversed()).write(to: file)
        let error = await #expect(throws: TransferError.self) {
            try await server.client().upload(.stream(HTTPBody(file: file), type: nil), to: "/files", resuming: resuming)
        }
        #expect(error?.code == .uploadContentChanged)
        try content.write(to: file)
        try await server.client().upload(.stream(HTTPBody(file: file), type: nil), to: "/files", resuming: resuming)
        #expect(server.completed == [content])
    }

    @Test func aForgottenUploadOfAnEarlierLaunchIsNotRepeatedBlindly() async throws {
        let server = server(0)
        let saved = try await begin(server, kind: 0)
        server.enqueue(.forget)
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft.acrossLaunches(from: saved) { _ in })
        }
        #expect(error?.code == .uploadForgotten)
        #expect(server.completed.isEmpty)
    }

    @Test(arguments: 0..<2) func anotherTargetIsRefusedBeforeSending(kind: Int) async throws {
        let server = server(kind)
        let saved = try await begin(server, kind: kind)
        let before = server.methods
        let resuming = UploadResuming.bothProtocols[kind].acrossLaunches(from: saved) { _ in }
        let content = RequestBody.stream(piecewise(content), type: "text/plain")
        let targets: [RequestTarget] = ["/other", "/files?a=1", "https://other.example/v1/files"]
        for target in targets {
            let error = await #expect(throws: TransferError.self) {
                try await server.client().upload(content, to: target, resuming: resuming)
            }
            #expect(error?.code == .uploadTargetChanged)
            #expect(error?.sentNothing == true)
        }
        if kind == 0 {
            let error = await #expect(throws: TransferError.self) {
                try await server.client().upload(content, to: "/files", method: .put, resuming: resuming)
            }
            #expect(error?.code == .uploadTargetChanged)
        }
        #expect(server.methods == before)
    }

    @Test(arguments: 0..<2) func aCancellationSendsNoCredentialsToAnotherOrigin(kind: Int) async throws {
        let headers: HTTPFields = [.authorization: "Bearer secret", "X-Api-Key": "key", "X-Trace": "1"]
        for isOther in [true, false] {
            let server = UploadServer.with(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)]) {
                $0.location = isOther ? "https://storage.example.com" : nil
            }
            let saved = try await begin(server, kind: kind)
            try await server.client().cancelUpload(saved, headers: headers)
            #expect(server.methods.last == .delete)
            let fields = try #require(server.headers.last)
            #expect(fields.contains(.authorization) == !isOther && fields.contains("X-Api-Key") == !isOther)
            #expect(fields["X-Trace"] == "1")
        }
    }

    @Test(arguments: 0..<2) func aCancelledUploadStaysAtTheServer(kind: Int) async throws {
        let server = UploadServer()
        let saved = Mutex<UnfinishedUpload?>(nil)
        let client = server.client()
        let resuming = UploadResuming.bothProtocols[kind].acrossLaunches { upload in saved.withLock { $0 = upload } }
        let task = Task {
            try await client.uploadPieces(content, resuming: resuming) { progress in
                // The task cancels itself, so that no timing matters.
                if progress.completed >= 49 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.completed.isEmpty)
        #expect(server.unfinished.count == 1)
        #expect(!server.methods.contains(.delete))
        let upload = try #require(saved.withLock { $0 })
        try await client.uploadPieces(content, resuming: .bothProtocols[kind].acrossLaunches(from: upload) { _ in })
        #expect(server.completed == [content])
    }

    @Test(arguments: 0..<2) func anUploadIsCancelledAtTheServer(kind: Int) async throws {
        let server = server(kind)
        let saved = try await begin(server, kind: kind)
        try await server.client().cancelUpload(saved, headers: ["X-Trace": "1"])
        #expect(server.methods.last == .delete)
        #expect(server.headers.last?["X-Trace"] == "1")
        #expect(server.unfinished.isEmpty)
        // An upload that is gone already is fine.
        try await server.client().cancelUpload(saved)
        server.enqueue(.refuse(503))
        await #expect(throws: StatusError.self) { try await server.client().cancelUpload(saved) }
    }

    @Test func theTextOfAnUnfinishedUploadHoldsNoSecret() async throws {
        let saved = try await begin(server(0), kind: 0)
        var dumped = ""
        dump(saved, to: &dumped)
        for text in ["\(saved)", String(reflecting: saved), dumped] { #expect(!text.contains("/uploads/")) }
        #expect("\(saved)" == "draft-8 upload of 100 bytes to https://api.example.com:443")
    }

    @Test func descriptionsShowNoMetadata() {
        let resuming = UploadResuming.tus(metadata: ["token": "hunter2", "filename": "film.mp4"])
        var text = String(reflecting: resuming) + "\(resuming)"
        dump(resuming, to: &text)
        #expect(!text.contains("hunter2"))
        #expect("\(resuming)" == #"tus-1.0, metadata ["filename", "token"]"#)
    }
}
