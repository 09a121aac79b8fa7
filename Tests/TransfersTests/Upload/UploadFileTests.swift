import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import InterceptorsUploadServer
import Synchronization
import Testing

/// Files that change while they are uploaded.
@Suite(.againstHanging) struct UploadFileTests {
    private let content = uploadContent(100)

    /// Uploads a file that changes as the server gets the request with a number. Returns the error.
    private func upload(
        _ kind: Int,
        changingAt number: Int,
        faults: [UploadServer.Fault],
        _ change: @escaping @Sendable (URL) throws -> Void
    ) async throws -> (UploadServer, TransferError?) {
        let folder = try TemporaryFolder()
        let file = try folder.write(content)
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + faults)
        let changing = InterceptingTransport { request in
            defer {
                if server.methods.count == number { try? change(file) }
            }
            return try await server.send(request)
        }
        let body = try HTTPBody(file: file)
        let error = await #expect(throws: TransferError.self) {
            try await makeUploadClient(changing)
                .upload(.stream(body, type: nil), to: "/files", resuming: .bothProtocols[kind])
        }
        return (server, error)
    }

    /// Ways to change a file without changing its length.
    private static let changes: [@Sendable (URL) throws -> Void] = [
        { file in
            let handle = try FileHandle(forWritingTo: file)
            try handle.write(contentsOf: Data("edited".utf8))
            try handle.close()
        },
        { file in try Data(uploadContent(100).reversed()).write(to: file, options: .atomic) },
    ]

    @Test(arguments: 0..<2, 0..<2) func anEditBetweenTwoPartsFailsTheUpload(kind: Int, change: Int) async throws {
        let number = kind == 0 ? 1 : 2
        let (server, error) = try await upload(
            kind,
            changingAt: number,
            faults: [.cut(after: 40)],
            Self.changes[change]
        )
        #expect(error?.code == .uploadContentChanged)
        #expect(error?.sentNothing == false)
        #expect(server.completed.isEmpty)
        #expect(server.methods.last == .delete, "nobody can continue the upload")
        #expect(server.unfinished.isEmpty)
    }

    @Test(arguments: 0..<2) func anEditDuringTheLastRequestFailsTheUpload(kind: Int) async throws {
        let (server, error) = try await upload(kind, changingAt: kind + 1, faults: [], Self.changes[0])
        #expect(error?.code == .uploadContentChanged)
        #expect(!server.methods.contains(.delete), "the server has completed the upload")
    }

    @Test(arguments: 0..<2) func anotherLengthFailsTheUpload(kind: Int) async throws {
        for size in [50, 150] {
            let number = kind == 0 ? 1 : 2
            let (server, error) = try await upload(kind, changingAt: number, faults: [.cut(after: 40)]) { file in
                try uploadContent(size).write(to: file)
            }
            #expect(error?.code == .uploadContentChanged, "\(size)")
            #expect(server.completed.isEmpty)
        }
    }

    @Test(arguments: 0..<2) func anUntouchedFileGoesOn(kind: Int) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(content)
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        for url in [file, link] {
            let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40), .none, .cut(after: 30)])
            try await server.client()
                .upload(.stream(try HTTPBody(file: url), type: nil), to: "/files", resuming: .bothProtocols[kind])
            #expect(server.completed == [content])
        }
    }

    @Test func aFileThatIsGoneFailsWhenItIsRead() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(content)
        let server = UploadServer(faults: [.cut(after: 40)])
        let removing = InterceptingTransport { request in
            if request.method == .head { try FileManager.default.removeItem(at: file) }
            return try await server.send(request)
        }
        let body = try HTTPBody(file: file)
        let error = await #expect(throws: TransportError.self) {
            try await makeUploadClient(removing).upload(.stream(body, type: nil), to: "/files", resuming: .hastyDraft)
        }
        #expect(error?.code == .unreadableFile)
    }
}
