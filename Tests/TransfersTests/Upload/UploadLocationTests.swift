import Foundation
import InterceptorsCore
import InterceptorsInsight
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import InterceptorsUploadServer
import Testing

/// Where the URL of an upload leads, and which fields go there.
@Suite(.againstHanging) struct UploadLocationTests {
    private let content = uploadContent(100)

    /// Uploads with both protocols to a server whose `Location` begins with a text, and breaks once.
    private func upload(
        location: String?,
        kind: Int
    ) async throws -> UploadServer {
        let server = UploadServer.with(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)]) {
            $0.location = location
        }
        try await server.client().uploadPieces(
            content,
            resuming: .bothProtocols[kind],
            headers: [
                .authorization: "Bearer secret", .cookie: "a=b", "X-Api-Key": "key", "X-Trace": "1",
                .idempotencyKey: "k", .ifNoneMatch: "*", "Content-Disposition": "inline",
            ]
        )
        return server
    }

    @Test(arguments: 0..<2) func aRelativeLocationIsResolved(kind: Int) async throws {
        let server = try await upload(location: nil, kind: kind)
        #expect(server.completed == [content])
    }

    @Test(arguments: 0..<2) func theSameOriginGetsTheFieldsOfTheCall(kind: Int) async throws {
        let server = try await upload(location: "https://API.example.com:443", kind: kind)
        for fields in server.headers.dropFirst() {
            #expect(fields[.authorization] == "Bearer secret")
            #expect(fields["X-Api-Key"] == "key")
            #expect(fields["X-Trace"] == "1")
        }
    }

    @Test(arguments: 0..<2) func theRequestsThatContinueAreAboutNeitherContentNorTarget(kind: Int) async throws {
        let server = try await upload(location: nil, kind: kind)
        #expect(server.headers[0][.ifNoneMatch] == "*")
        for fields in server.headers.dropFirst() {
            #expect(!fields.contains(.idempotencyKey) && !fields.contains(.ifNoneMatch))
            #expect(!fields.contains("Content-Disposition"))
        }
    }

    @Test(arguments: 0..<2, ["https://storage.example.com", "https://api.example.com:8443", "//other.example"])
    func anotherOriginGetsNoCredentials(kind: Int, location: String) async throws {
        let server = try await upload(location: location, kind: kind)
        #expect(server.completed == [content])
        for fields in server.headers.dropFirst() {
            #expect(!fields.contains(.authorization) && !fields.contains(.cookie) && !fields.contains("X-Api-Key"))
            #expect(fields["X-Trace"] == "1")
        }
    }

    @Test(arguments: 0..<2) func aNameThatTheJournalHidesDoesNotGoToAnotherOrigin(kind: Int) async throws {
        for redaction in [Redaction.standard, .standard.adding(names: ["Frob"])] {
            let server = UploadServer.with(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)]) {
                $0.location = "https://storage.example.com"
            }
            let client = Client(
                baseURL: URL(string: "https://api.example.com/v1"),
                interceptors: [],
                transport: server,
                observer: Journal(redaction: redaction)
            )
            let saved = Shared<UnfinishedUpload?>(nil)
            let headers: HTTPFields = ["X-Frob": "secret", .authorization: "Bearer secret"]
            let resuming = UploadResuming.bothProtocols[kind].acrossLaunches { saved.value = $0 }
            try await client.uploadPieces(content, resuming: resuming, headers: headers)
            try await client.cancelUpload(try #require(saved.value), headers: headers)
            let isHidden = redaction.isSensitive("X-Frob")
            #expect(server.headers[0].contains("X-Frob"))
            #expect(server.headers.dropFirst().allSatisfy { $0.contains("X-Frob") == !isHidden })
            #expect(server.headers.dropFirst().allSatisfy { !$0.contains(.authorization) })
            #expect(server.methods.last == .delete)
        }
    }

    @Test(arguments: 0..<2, ["http://api.example.com", "ftp://api.example.com", "http:", "https://"])
    func anUnusableLocationEndsTheUpload(kind: Int, location: String) async throws {
        let server = UploadServer.with(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)]) {
            $0.location = location
        }
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .bothProtocols[kind])
        }
        #expect(error?.code == .invalidUploadResponse)
        #expect(server.methods == [.post])
    }

    @Test func anUnusableLocationDoesNotMatterWithoutTrouble() async throws {
        let server = UploadServer.with { $0.location = "ftp://api.example.com" }
        try await server.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(server.completed == [content])
    }

    @Test func twoLocationsOfOneUploadEndIt() async throws {
        let server = UploadServer.with(faults: [.cut(after: 40)]) { $0.secondLocation = "/uploads/99" }
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.code == .invalidUploadResponse)
        let lucky = UploadServer.with { $0.secondLocation = "/uploads/99" }
        try await lucky.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(lucky.completed == [content])
    }

    @Test(arguments: 0..<2) func aMissingLocationEndsTheUpload(kind: Int) async throws {
        let server = UploadServer.with { behavior in
            behavior.leavesOutLocation = true
            behavior.sendsInterims = false
        }
        let resuming: [UploadResuming] = [.draft(startsEmpty: true).trying(time: .hasty), .hastyTus]
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: resuming[kind])
        }
        #expect(error?.code == .uploadUnsupported)
        #expect(server.methods == [.post])
    }
}
