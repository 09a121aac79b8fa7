import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import InterceptorsUploadServer
import Synchronization
import Testing

/// The wait that a server asks for, and the time until which it keeps an upload.
@Suite(.againstHanging) struct UploadWaitTests {
    private let content = uploadContent(100)

    private func resuming(_ kind: Int, _ time: TimeSource) -> UploadResuming {
        kind == 0 ? .draft.trying(time: time) : .tus.trying(time: time)
    }

    /// Uploads to a server that breaks once, and refuses the question for the offset with a `Retry-After`.
    private func upload(
        _ kind: Int,
        retryAfter: String,
        _ clock: ManualClock,
        now: Date = Date(timeIntervalSince1970: 784_111_777)
    ) async throws -> UploadServer {
        let refusal = UploadServer.Fault.refuse(503, [.retryAfter: retryAfter])
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40), refusal])
        let time = TimeSource(clock: clock, now: { now }, random: RandomSource { 0 })
        try await clock.run {
            _ = try await server.client().uploadPieces(content, resuming: resuming(kind, time))
        }
        return server
    }

    @Test(arguments: 0..<2, [("20", 20), ("60", 60), ("0", 0), ("Sun, 06 Nov 1994 08:50:07 GMT", 30), ("soon", 0)])
    func theServersWaitIsWaitedFor(kind: Int, wait: (text: String, seconds: Int)) async throws {
        let clock = ManualClock()
        let server = try await upload(kind, retryAfter: wait.text, clock)
        #expect(server.completed == [content])
        #expect(clock.now.elapsed == .seconds(wait.seconds))
    }

    @Test(arguments: 0..<2, ["61", "99999999999"]) func tooLongAWaitEndsTheUpload(kind: Int, text: String) async throws
    {
        let clock = ManualClock()
        let error = await #expect(throws: StatusError.self) {
            _ = try await upload(kind, retryAfter: text, clock)
        }
        #expect(error?.response?.status == 503)
        #expect(clock.now.elapsed == .zero)
    }

    @Test func anUploadThatIsCompleteNeedsNoLongWait() async throws {
        let refusal = UploadServer.Fault.refuse(503, [.retryAfter: "61"])
        let server = UploadServer(faults: [.loseResponse, .none, .loseResponse, refusal])
        let response = try await server.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(server.completed == [content])
        #expect(server.methods == [.post, .head, .patch, .head])
        #expect(response.headers["Upload-Complete"] == "?1")
    }

    @Test(arguments: [404, 410] as [HTTPResponse.Status])
    func anUploadThatIsCompleteMayBeForgotten(status: HTTPResponse.Status) async throws {
        let server = UploadServer(faults: [.loseResponse, .none, .loseResponse, .refuse(status)])
        let response = try await server.client().uploadPieces(content, resuming: .hastyDraft)
        #expect(server.methods == [.post, .head, .patch, .head])
        #expect(response.headers["Upload-Complete"] == "?1")
    }

    @Test func theBackoffCountsIfItIsLonger() async throws {
        let clock = ManualClock()
        let refusal = UploadServer.Fault.refuse(503, [.retryAfter: "1"])
        let server = UploadServer(faults: [.cut(after: 40)] + Array(repeating: refusal, count: 7))
        let time = TimeSource(clock: clock, random: RandomSource { .max })
        var resuming = UploadResuming.draft.trying(time: time)
        resuming.answerLimit = 20
        let patient = resuming
        try await clock.run { _ = try await server.client().uploadPieces(content, resuming: patient) }
        #expect(server.completed == [content])
        // 0.2 s after the break, then 1 s for the backoffs below it, then 1.6, 3.2, 6.4, 12.8 and 20 s.
        #expect(clock.now.elapsed > .seconds(45) && clock.now.elapsed < .seconds(50))
    }

    @Test func aDeadlineBeforeTheEndOfTheWaitEndsTheUploadWithTheResponse() async throws {
        let clock = ManualClock()
        let time = TimeSource(clock: clock, random: RandomSource { 0 })
        let server = UploadServer(faults: [.cut(after: 40), .refuse(503, [.retryAfter: "20"])])
        let error = await #expect(throws: StatusError.self) {
            try await clock.run {
                _ = try await server.client()
                    .upload(
                        .data(content, type: nil),
                        to: "/files",
                        resuming: .draft.trying(time: time),
                        context: .with(\.deadline, Deadline(after: .seconds(10), time: time))
                    )
            }
        }
        #expect(error?.response?.status == 503)
        #expect(clock.now.elapsed == .zero)
    }
}
