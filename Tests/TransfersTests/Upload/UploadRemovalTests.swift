import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import InterceptorsUploadServer
import Testing

/// Uploads that nobody can continue are removed from the server. The caller gets the reason in any case.
@Suite(.againstHanging) struct UploadRemovalTests {
    private let content = uploadContent(100)

    // The draft allows an offset beyond the bytes that were sent.
    @Test(
        arguments: [
            (0, .beyondLength), (1, .beyondLength), (1, .beyondSent), (0, .anotherLength), (1, .anotherLength),
        ] as [(Int, UploadServer.Lie)]
    )
    func anUploadIsRemovedAfterAContradiction(kind: Int, lie: UploadServer.Lie) async throws {
        let server = UploadServer.lying(lie, faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)])
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .bothProtocols[kind])
        }
        #expect(error?.code == .invalidUploadResponse)
        #expect(server.methods.last == .delete)
        #expect(server.methods.filter { $0 == .delete }.count == 1)
        #expect(server.unfinished.isEmpty)
    }

    @Test func anUploadThatIsCompleteTooEarlyIsRemoved() async throws {
        let server = UploadServer.lying(.completesEarly, faults: [.cut(after: 40)])
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.code == .invalidUploadResponse)
        #expect(server.methods == [.post, .head, .delete])
    }

    @Test(arguments: [404, 405, 500] as [HTTPResponse.Status])
    func aRefusedRemovalHidesNoError(status: HTTPResponse.Status) async throws {
        let server = UploadServer.lying(.beyondLength, faults: [.cut(after: 40), .none, .refuse(status)])
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.code == .invalidUploadResponse)
        #expect(error?.response?.status == 204, "the response that contradicts")
        #expect(server.methods == [.post, .head, .delete])
    }

    @Test func theRemovalHasTheFieldsOfTheProtocolAndNoCredentialsForAnotherOrigin() async throws {
        let server = UploadServer.with(faults: [.none, .cut(after: 40)]) { behavior in
            behavior.lie = .beyondLength
            behavior.location = "https://storage.example.com"
        }
        await #expect(throws: TransferError.self) {
            try await server.client()
                .uploadPieces(content, resuming: .hastyTus, headers: [.authorization: "Bearer secret", "X-Trace": "1"])
        }
        #expect(server.methods.last == .delete)
        let fields = try #require(server.headers.last)
        #expect(fields["Tus-Resumable"] == "1.0.0" && fields["X-Trace"] == "1")
        #expect(!fields.contains(.authorization) && !fields.contains("Upload-Offset") && !fields.contains(.contentType))
    }

    @Test func twoLocationsRemoveTheFirst() async throws {
        let server = UploadServer.with(faults: [.cut(after: 40)]) { $0.secondLocation = "/uploads/99" }
        await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(server.methods == [.post, .delete])
        #expect(server.unfinished.isEmpty)
    }

    @Test func aWrongLengthOfAnEarlierLaunchRemovesNothing() async throws {
        // The server may have given the URL to another upload meanwhile.
        let server = UploadServer.lying(.anotherLength, faults: [.cut(after: 40)])
        let saved = Shared<UnfinishedUpload?>(nil)
        await #expect(throws: TransportError.self) {
            try await server.client()
                .uploadPieces(content, resuming: .draft.trying(for: .zero).acrossLaunches { saved.value = $0 })
        }
        let upload = try #require(saved.value)
        await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft.acrossLaunches(from: upload) { _ in })
        }
        #expect(server.methods == [.post, .head])
    }

    @Test func contentOverTheMaximumIsRefusedBeforeItIsSent() async throws {
        let server = UploadServer.with { $0.maxSize = 50 }
        let error = await #expect(throws: TransferError.self) {
            try await server.client()
                .uploadPieces(content, resuming: .draft(startsEmpty: true).trying(time: .hasty))
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(server.methods == [.post, .delete])
    }

    // MARK: A refused size

    @Test func aRefusedSizeAfterANameMakesTheUploadInParts() async throws {
        // The server drops an upload that it has named, when its content is too large.
        let server = UploadServer(maxAppendSize: 30)
        try await server.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(server.completed == [content])
        #expect(server.methods == [.post, .head, .post, .patch, .patch, .patch])
    }

    @Test func aRefusedSizeWithoutALimitIsTheResult() async throws {
        let server = UploadServer(faults: [.failAfterContent(413)])
        let error = await #expect(throws: StatusError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.response?.status == 413)
        #expect(server.methods == [.post])
    }

    @Test func aSizeThatIsRefusedAgainIsAnError() async throws {
        let limits: [UploadServer.Fault] = [
            .failAfterContent(413, ["Upload-Limit": "max-append-size=30"]), .forget,
            .failAfterContent(413, ["Upload-Limit": "max-append-size=20"]), .forget,
        ]
        let server = UploadServer(faults: limits)
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(server.methods == [.post, .head, .post, .head, .delete])
        #expect(server.completed.isEmpty)
    }
}
