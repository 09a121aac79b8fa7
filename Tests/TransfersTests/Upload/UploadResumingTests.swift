import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import InterceptorsUploadServer
import Synchronization
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct UploadResumingTests {
    private let content = uploadContent(100)

    // MARK: Without trouble

    @Test func aDraftUploadWithoutTroubleIsOneRequest() async throws {
        let server = UploadServer()
        let response = try await server.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(server.methods == [.post])
        #expect(server.completed == [content])
        #expect(response.status == 200)
        let fields = server.headers[0]
        #expect(fields["Upload-Draft-Interop-Version"] == "8")
        #expect(fields["Upload-Complete"] == "?1")
        #expect(fields["Upload-Length"] == "100")
        #expect(fields[.contentType] == "text/plain")
    }

    @Test func aTusUploadWithoutTroubleIsTwoRequests() async throws {
        let server = UploadServer()
        let resuming = UploadResuming.tus(metadata: ["filename": "film.mp4", "is_confidential": ""]).trying(
            time: .hasty
        )
        let response = try await server.client().uploadPieces(content, resuming: resuming)
        #expect(server.methods == [.post, .patch])
        #expect(server.completed == [content])
        #expect(response.status == 204)
        #expect(server.headers[0]["Upload-Metadata"] == "filename ZmlsbS5tcDQ=,is_confidential")
        #expect(server.headers[0]["Upload-Length"] == "100")
        #expect(server.headers[0][.contentType] == nil)
        #expect(server.headers[1]["Upload-Offset"] == "0")
        #expect(server.headers[1][.contentType] == "application/offset+octet-stream")
        #expect(server.headers.allSatisfy { $0["Tus-Resumable"] == "1.0.0" })
    }

    @Test func tusWithContentInTheFirstRequestIsOneRequest() async throws {
        let server = UploadServer()
        try await server.client().uploadPieces(content, resuming: .tus(startsEmpty: false).trying(time: .hasty))
        #expect(server.methods == [.post])
        #expect(server.completed == [content])
    }

    @Test func tusSendsTheContentAgainToAServerThatIgnoresItAtFirst() async throws {
        let server = UploadServer.with { $0.createsWithUpload = false }
        try await server.client().uploadPieces(content, resuming: .tus(startsEmpty: false).trying(time: .hasty))
        #expect(server.methods == [.post, .patch])
        #expect(server.completed == [content])
    }

    @Test func theDraftCanNameTheUploadBeforeTheContent() async throws {
        let server = UploadServer(sendsInterims: false)
        try await server.client().uploadPieces(
            content,
            resuming: .draft(startsEmpty: true).trying(time: .hasty)
        )
        #expect(server.methods == [.post, .patch])
        #expect(server.completed == [content])
        #expect(server.headers[0]["Upload-Complete"] == "?0")
        #expect(server.headers[1]["Upload-Complete"] == "?1")
        #expect(server.headers[1][.contentType] == "application/partial-upload")
    }

    @Test(arguments: 0..<2) func emptyContentIsUploaded(kind: Int) async throws {
        let server = UploadServer()
        try await server.client().uploadPieces(Data(), resuming: .bothProtocols[kind])
        #expect(server.completed == [Data()])
        #expect(server.methods == [.post])
    }

    @Test func aFileIsSentAsAFile() async throws {
        let folder = try TemporaryFolder()
        let body = try HTTPBody(file: try folder.write(content))
        let files = Mutex<[URL?]>([])
        let spy = InterceptingTransport { request in
            files.withLock { $0.append(request.body.file) }
            return HTTPResponse(status: 200)
        }
        try await makeUploadClient(spy).upload(.stream(body, type: nil), to: "/files", resuming: .hastyDraft)
        #expect(files.withLock { $0 } == [body.file], "the transport can read the file itself")
    }

    /// Apple's URLSession resumes the uploads of upload tasks itself, so these requests become data tasks.
    @Test(arguments: 0...2) func eachRequestSaysWhetherItsCallerResumes(kind: Int) async throws {
        let isResumed = kind < 2
        let server = UploadServer(faults: isResumed ? [.none, .cut(after: 40)] : [])
        let found = Notes<Bool>()
        let client = server.client([
            .intercept { request, next in
                found.add(request.isOfResumableUpload)
                return try await next(request)
            }
        ])
        if isResumed {
            try await client.uploadPieces(content, resuming: .bothProtocols[kind])
        } else {
            try await client.post("/files", body: .stream(piecewise(content), type: "text/plain"))
        }
        #expect(!found.all.isEmpty && found.all.allSatisfy { $0 == isResumed })
    }

    // MARK: Trouble

    @Test(arguments: 0..<2) func anUploadGoesOnWhereItBrokeOff(kind: Int) async throws {
        let creation: [UploadServer.Fault] = kind == 0 ? [] : [.none]
        let server = UploadServer(faults: creation + [.cut(after: 40), .none, .cut(after: 30)])
        let seen = Mutex<[TransferProgress]>([])
        try await server.client().uploadPieces(content, resuming: .bothProtocols[kind]) { report in
            seen.withLock { $0.append(report) }
        }
        #expect(server.completed == [content])
        #expect(server.methods.suffix(4) == [.head, .patch, .head, .patch])
        #expect(server.headers.compactMap { $0["Upload-Offset"] } == (kind == 0 ? [] : ["0"]) + ["40", "70"])
        let counts = seen.withLock { $0.map(\.completed) }
        #expect(counts == counts.sorted(), "progress never goes back")
        #expect(seen.withLock(\.last) == TransferProgress(completed: 100, total: 100))
    }

    @Test(arguments: 0..<2) func aLostFinalResponseIsNoSecondUpload(kind: Int) async throws {
        let server = UploadServer(faults: kind == 0 ? [.loseResponse] : [.none, .loseResponse])
        let response = try await server.client().uploadPieces(content, resuming: .bothProtocols[kind])
        #expect(server.completed == [content])
        #expect(server.methods == (kind == 0 ? [.post, .head, .patch] : [.post, .patch, .head]))
        #expect(response.status == 200)
    }

    @Test func theResponseToTheQuestionIsTheResultIfTheFinalOneIsNotRepeated() async throws {
        let server = UploadServer.with(faults: [.loseResponse]) { $0.repeatsFinalResponse = false }
        let response = try await server.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(server.completed == [content])
        #expect(response.status == 204)
        #expect(response.headers["Upload-Complete"] == "?1")
    }

    @Test func aLostFinalResponseThatWasAnErrorStaysAnError() async throws {
        let server = UploadServer.with(faults: [.loseResponse]) { $0.finalStatus = 422 }
        let error = await #expect(throws: StatusError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.response?.status == 422)
        #expect(server.methods == [.post, .head, .patch])
    }

    @Test(arguments: 0..<2) func aServerErrorAsksForTheOffset(kind: Int) async throws {
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + [.failAfterContent])
        try await server.client().uploadPieces(content, resuming: .bothProtocols[kind])
        #expect(server.completed == [content])
        #expect(server.methods.suffix(2) == (kind == 0 ? [.head, .patch] : [.patch, .head]))
    }

    @Test(arguments: [409, 423, 408, 429, 503] as [HTTPResponse.Status])
    func aLockedUploadIsAskedForAgain(status: HTTPResponse.Status) async throws {
        for resuming in UploadResuming.bothProtocols {
            let faults: [UploadServer.Fault] = [.cut(after: 40), .refuse(status), .none, .refuse(status)]
            let server = UploadServer(faults: (resuming.isTus ? [.none] : []) + faults)
            try await server.client().uploadPieces(content, resuming: resuming)
            #expect(server.completed == [content])
            #expect(server.methods.suffix(5) == [.head, .head, .patch, .head, .patch])
        }
    }

    @Test func withoutInterimResponseABrokenPostFailsAsAnyPost() async throws {
        let server = UploadServer.with(faults: [.cut(after: 40)]) { $0.supports = false }
        let error = await #expect(throws: TransportError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.code == .connectionLost)
        #expect(server.methods == [.post])
    }

    @Test func aBrokenPutWithoutInterimResponseIsRepeated() async throws {
        let server = UploadServer.with(faults: [.cut(after: 40)]) { $0.supports = false }
        try await server.client().uploadPieces(content, method: .put, resuming: .hastyDraft)
        #expect(server.methods == [.put, .put])
        #expect(server.plain == [content])
    }

    @Test(arguments: [true, false]) func theCallerSaysWhetherAnUploadMayBeRepeated(isIdempotent: Bool) async throws {
        let method: HTTPRequest.Method = isIdempotent ? .post : .put
        for fault in [UploadServer.Fault.cut(after: 40), .refuse(502)] {
            let server = UploadServer.with(faults: [fault]) { $0.supports = false }
            let response = try? await server.client()
                .upload(
                    .stream(piecewise(content), type: nil),
                    to: "/files",
                    method: method,
                    resuming: .hastyDraft,
                    context: .with(\.declaredIdempotency, isIdempotent)
                )
            #expect(server.methods == (isIdempotent ? [.post, .post] : [.put]))
            #expect(server.plain == (isIdempotent ? [content] : []))
            #expect(response?.status == (isIdempotent ? 200 : nil))
        }
    }

    @Test func anUploadWithAnIdempotencyKeyIsRepeated() async throws {
        let server = UploadServer.with(faults: [.cut(after: 40)]) { $0.supports = false }
        try await server.client().uploadPieces(content, resuming: .hastyDraft, headers: [.idempotencyKey: "k"])
        #expect(server.headers.map { $0[.idempotencyKey] } == ["k", "k"])
        #expect(server.plain == [content])
    }

    @Test func aServerWithoutTheProtocolTakesAPlainUpload() async throws {
        let server = UploadServer.with { $0.supports = false }
        let response = try await server.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(server.plain == [content])
        #expect(response.status == 200)
    }

    @Test func anInterimResponseOfAnotherVersionDoesNotCount() async throws {
        let server = UploadServer.with(faults: [.cut(after: 40)]) { $0.interopVersion = "7" }
        await #expect(throws: TransportError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(server.methods == [.post])
    }

    @Test func tusNeedsAServerWithTus() async throws {
        let server = UploadServer.with { $0.supports = false }
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyTus)
        }
        #expect(error?.code == .uploadUnsupported)
        #expect(server.methods == [.post])
    }

    @Test(arguments: [404, 410] as [HTTPResponse.Status])
    func aForgottenUploadStartsOverOnce(status: HTTPResponse.Status) async throws {
        for resuming in UploadResuming.bothProtocols {
            let faults: [UploadServer.Fault] = [.cut(after: 40), .forget]
            let server = UploadServer.with(faults: (resuming.isTus ? [.none] : []) + faults) { $0.goneStatus = status }
            try await server.client().uploadPieces(content, resuming: resuming)
            #expect(server.completed == [content])
            #expect(server.methods.filter { $0 == .post }.count == 2)
        }
    }

    @Test func anUploadThatMayBeCompleteIsNotRepeated() async throws {
        let server = UploadServer(faults: [.loseResponse, .forget])
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.code == .uploadForgotten)
        #expect(server.methods == [.post, .head])
    }

    @Test(arguments: 0..<2) func aServerThatAlwaysForgetsEndsTheUpload(kind: Int) async throws {
        let server = UploadServer(faults: Array(repeating: [.cut(after: 10), .forget], count: 20).flatMap { $0 })
        await #expect(throws: (any Error).self) {
            try await server.client().uploadPieces(content, resuming: .bothProtocols[kind])
        }
        #expect(server.methods.count < 12)
        #expect(server.completed.isEmpty)
    }

    @Test(arguments: 0..<2) func anUploadWithoutNewBytesEnds(kind: Int) async throws {
        let cuts: [UploadServer.Fault] = Array(repeating: [.cut(after: 0), .none], count: 20).flatMap { $0 }
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + cuts)
        let error = await #expect(throws: TransportError.self) {
            try await server.client().uploadPieces(content, resuming: .bothProtocols[kind])
        }
        #expect(error?.code == .connectionLost)
        // 13 attempts fit into two minutes.
        #expect(server.methods.filter { $0 == .patch }.count == (kind == 0 ? 12 : 13))
    }

    @Test(arguments: 0..<2) func eachNewByteStartsTheCountAgain(kind: Int) async throws {
        let cuts: [UploadServer.Fault] = Array(repeating: [.cut(after: 3), .none], count: 30).flatMap { $0 }
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + cuts)
        try await server.client().uploadPieces(content, resuming: .bothProtocols[kind])
        #expect(server.completed == [content])
    }

    @Test(arguments: 0..<2) func aTransportThatReportsLateMakesTheServerNoLiar(kind: Int) async throws {
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)])
        let late = InterceptingTransport { request in
            var request = request
            request.context.takenBytes = nil
            if let report = request.context.uploadProgress {
                request.context.uploadProgress = { progress in
                    report(TransferProgress(completed: progress.completed / 2, total: progress.total))
                }
            }
            return try await server.send(request)
        }
        try await makeUploadClient(late).uploadPieces(content, resuming: .bothProtocols[kind])
        #expect(server.completed == [content])
    }

    @Test(arguments: 0..<2) func aRefusedUploadIsNotReportedAsComplete(kind: Int) async throws {
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40), .refuse(401)])
        let last = Mutex<TransferProgress?>(nil)
        let response = try await server.client().upload(
            .stream(piecewise(content), type: nil),
            to: "/files",
            resuming: .bothProtocols[kind],
            context: .with(\.validatesStatus, false)
        ) { report in last.withLock { $0 = report } }
        #expect(response.status == 401)
        #expect(last.withLock { $0?.completed } == 40)
    }

    // MARK: Limits

    @Test func theLimitOfTheServerSplitsTheContent() async throws {
        let server = UploadServer(maxAppendSize: 30)
        try await server.client().uploadPieces(
            content,
            resuming: .draft(startsEmpty: true).trying(time: .hasty)
        )
        #expect(server.completed == [content])
        #expect(server.headers.compactMap { $0["Upload-Offset"] } == ["0", "30", "60", "90"])
        #expect(server.headers.map { $0["Upload-Complete"] } == ["?0", "?0", "?0", "?0", "?1"])
    }

    @Test func aRefusalForTheLimitSplitsTheContent() async throws {
        let server = UploadServer(maxAppendSize: 30, sendsInterims: false)
        try await server.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(server.completed == [content])
        #expect(server.headers[1]["Upload-Complete"] == "?0")
    }

    @Test(arguments: 0..<2) func theCallersLimitSplitsTheContent(kind: Int) async throws {
        let resuming: UploadResuming =
            kind == 0 ? .draft(partLimit: 40).trying(time: .hasty) : .tus(partLimit: 40).trying(time: .hasty)
        let server = UploadServer()
        try await server.client().uploadPieces(content, resuming: resuming)
        #expect(server.completed == [content])
        #expect(
            server.headers.compactMap { $0["Upload-Offset"] } == (kind == 0 ? ["40", "80"] : ["0", "40", "80"])
        )
    }

    @Test func contentOverTheMaximumIsNotContinued() async throws {
        let server = UploadServer.with(faults: [.cut(after: 40)]) { $0.maxSize = 50 }
        let error = await #expect(throws: TransferError.self) {
            try await server.client().uploadPieces(content, resuming: .hastyDraft)
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(server.methods == [.post, .delete])
    }

    // MARK: Refused before sending

    @Test func aOneShotBodyIsRefusedBeforeSending() async throws {
        let server = UploadServer()
        let chunks = AsyncStream(Data.self) { $0.finish() }
        for body in [HTTPBody.oneShot(chunks, length: 3), .restartable(length: 0) { chunks }] {
            let error = await #expect(throws: TransportError.self) {
                try await server.client().upload(.stream(body, type: nil), to: "/files", resuming: .hastyDraft)
            }
            #expect(error?.code == .bodyNotReplayable)
        }
        #expect(server.methods.isEmpty)
    }

    @Test func tusRefusesAnotherMethodAndWrongMetadata() async throws {
        let server = UploadServer()
        let put = await #expect(throws: TransportError.self) {
            try await server.client().uploadPieces(content, method: .put, resuming: .hastyTus)
        }
        #expect(put?.code == .invalidRequest)
        for name in ["", "a b", "a,b", "ä", "a\nb"] {
            let error = await #expect(throws: TransportError.self) {
                try await server.client().uploadPieces(content, resuming: .tus(metadata: [name: "x"]))
            }
            #expect(error?.code == .invalidRequest, "\(name)")
        }
        #expect(server.methods.isEmpty)
    }
}

func makeUploadClient(_ transport: any Transport, _ interceptors: [any Interceptor] = []) -> Client {
    Client(baseURL: URL(string: "https://api.example.com/v1"), interceptors: interceptors, transport: transport)
}
