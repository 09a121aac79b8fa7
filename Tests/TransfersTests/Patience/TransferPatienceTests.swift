import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsUploadServer
import Testing

@testable import InterceptorsTransfers

/// How long a download or an upload goes on without a network, in virtual time.
@Suite(.againstHanging) struct TransferPatienceTests {
    private let content = uploadContent(100)

    /// Has no network for some time after the first broken connection.
    private struct Outage: Transport {
        let inner: any Transport
        let clock: ManualClock
        let length: Duration
        let start = Shared<Duration?>(nil)

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            if let start = start.value, clock.now.elapsed < start + length {
                throw TransportError(.offline, "There is no network.", request: request)
            }
            do {
                var response = try await inner.send(request)
                guard start.value == nil else { return response }
                response.body = response.body.onEnd { [start, clock] error in
                    if error != nil { start.value = clock.now.elapsed }
                }
                return response
            } catch {
                if start.value == nil { start.value = clock.now.elapsed }
                throw error
            }
        }
    }

    private func download(_ seed: UInt64, withoutNetworkFor length: Duration) async throws -> Data? {
        let (place, clock) = (try Destination(), ManualClock())
        let outage = Outage(inner: RangedFile(content).stub(cuts: [40]), clock: clock, length: length)
        let resuming = DownloadResuming.withinCall.trying(time: .manual(clock, seed: seed))
        _ = try await clock.run {
            try await makeUploadClient(outage).download("/film", to: place.file, resuming: resuming)
        }
        return place.content
    }

    private func upload(_ kind: Int, _ seed: UInt64, withoutNetworkFor length: Duration) async throws -> [Data] {
        let clock = ManualClock()
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)])
        let outage = Outage(inner: server, clock: clock, length: length)
        let time = TimeSource.manual(clock, seed: seed)
        let resuming: UploadResuming = kind == 0 ? .draft.trying(time: time) : .tus.trying(time: time)
        _ = try await clock.run { try await makeUploadClient(outage).uploadPieces(content, resuming: resuming) }
        return server.completed
    }

    @Test(arguments: [2, 3, 30, 119]) func downloadSurvivesTwoMinutesWithoutANetwork(seconds: Int) async throws {
        for seed in 0..<20 as Range<UInt64> {
            #expect(try await download(seed, withoutNetworkFor: .seconds(seconds)) == content)
        }
    }

    @Test(arguments: 0..<2, [2, 3, 30, 119])
    func uploadSurvivesTwoMinutesWithoutANetwork(kind: Int, seconds: Int) async throws {
        for seed in 0..<20 as Range<UInt64> {
            #expect(try await upload(kind, seed, withoutNetworkFor: .seconds(seconds)) == [content])
        }
    }

    @Test func transferWithoutANetworkEndsAfterTwoMinutes() async throws {
        let error = await #expect(throws: TransportError.self) {
            _ = try await download(1, withoutNetworkFor: .seconds(121))
        }
        #expect(error?.code == .offline)
        for kind in 0..<2 {
            let error = await #expect(throws: TransportError.self) {
                _ = try await upload(kind, 1, withoutNetworkFor: .seconds(121))
            }
            #expect(error?.code == .offline)
        }
    }

    @Test func patienceOfATransferThatNobodyChoseIsTwoMinutes() {
        #expect(DownloadResuming.withinCall.patience == .seconds(120))
        for resuming in [UploadResuming.draft, .tus] { #expect(resuming.patience == .seconds(120)) }
    }

    @Test func callerChoosesThePatience() async throws {
        let clock = ManualClock()
        let stub = StubTransport { _ in throw TransportError(.offline, "There is no network.") }
        let place = try Destination()
        await #expect(throws: TransportError.self) {
            try await clock.run {
                let resuming = DownloadResuming.withinCall.trying(for: .seconds(7), time: .manual(clock))
                try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
            }
        }
        #expect(clock.now.elapsed == .seconds(7), "the last attempt is at the end")
    }

    @Test(arguments: [409, 423] as [HTTPResponse.Status], [3, 60])
    func lockOfTheServerIsWaitedForWithoutHaste(status: HTTPResponse.Status, seconds: Int) async throws {
        for seed in 0..<20 as Range<UInt64> {
            let clock = ManualClock()
            let server = UploadServer(faults: [.none, .cut(after: 40)])
            let questions = Tally()
            let locking = InterceptingTransport { request in
                if request.method == .head, clock.now.elapsed < .seconds(seconds) {
                    questions.count()
                    return HTTPResponse(status: status, headers: [.retryAfter: "0"])
                }
                return try await server.send(request)
            }
            _ = try await clock.run {
                try await makeUploadClient(locking)
                    .uploadPieces(content, resuming: .tus.trying(time: .manual(clock, seed: seed)))
            }
            #expect(server.completed == [content])
            #expect(questions.value <= seconds + 1, "at most one a second")
        }
    }

    @Test func lockThatStaysEndsTheUploadAfterTwoMinutes() async throws {
        let clock = ManualClock()
        let server = UploadServer(faults: [.none, .cut(after: 40)])
        let locking = InterceptingTransport { request in
            request.method == .head ? HTTPResponse(status: 423) : try await server.send(request)
        }
        let error = await #expect(throws: StatusError.self) {
            try await clock.run {
                try await makeUploadClient(locking).uploadPieces(content, resuming: .tus.trying(time: .manual(clock)))
            }
        }
        #expect(error?.response?.status == 423)
        #expect(clock.now.elapsed == .seconds(120))
    }

    @Test(arguments: 0..<2) func serverThatAnswersBadlyIsAskedFiveTimes(kind: Int) async throws {
        let clock = ManualClock()
        let refusals = Array(repeating: UploadServer.Fault.refuse(503), count: 20)
        let server = UploadServer(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)] + refusals)
        let time = TimeSource.manual(clock)
        await #expect(throws: StatusError.self) {
            try await clock.run {
                try await server.client()
                    .uploadPieces(content, resuming: kind == 0 ? .draft.trying(time: time) : .tus.trying(time: time))
            }
        }
        #expect(server.methods.filter { $0 == .head }.count == 5)
    }
}
