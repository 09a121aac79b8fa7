import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Synchronization
import Testing

@Suite(.againstHanging) struct DownloadResumingTests {
    private let film = Data.letters(100)

    @Test(arguments: 0..<2) func aDownloadGoesOnWhereItBrokeOff(extent: Int) async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40, 30])
        let seen = Mutex<[TransferProgress]>([])
        let response = try await makeClient(stub)
            .download("/film", to: place.file, resuming: .bothExtents[extent]) { seen.append($0) }
        #expect(place.content == film)
        #expect(place.names == ["film.mp4"])
        #expect(stub.ranges == [nil, "bytes=40-", "bytes=70-"])
        #expect(stub.requests.map { $0.headers[.ifRange] } == [nil, "\"0\"", "\"0\""])
        #expect(stub.requests.allSatisfy { $0.headers[.acceptEncoding] == "identity" })
        #expect(response.status == 206)
        #expect(seen.withLock { $0.last } == TransferProgress(completed: 100, total: 100))
        let counts = seen.withLock { $0.map(\.completed) }
        #expect(counts == counts.sorted(), "earlier bytes count")
    }

    @Test func byDefaultNothingIsResumed() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40])
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file)
        }
        #expect(error?.code == .truncated)
        #expect(stub.ranges == [nil])
        #expect(stub.requests[0].headers[.acceptEncoding] == nil)
        #expect(place.names.isEmpty)
    }

    @Test func aLaterCallGoesOn() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40, 0])
        let once = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: once)
        }
        #expect(place.names == [".film.mp4.part", ".film.mp4.part-state"])
        try await makeClient(stub).download("/film#later", to: place.file, resuming: once)
        #expect(stub.ranges == [nil, "bytes=40-", "bytes=40-"])
        #expect(place.content == film)
        #expect(place.names == ["film.mp4"])
    }

    @Test func withinACallNothingIsLeftBehind() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40, 0])
        await #expect(throws: TransportError.self) {
            try await makeClient(stub)
                .download("/film", to: place.file, resuming: .withinCall.trying(for: .zero, time: .impatient))
        }
        #expect(place.names.isEmpty)
    }

    @Test func anotherURLStartsFromTheBeginning() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40, 0])
        let once = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: once)
        }
        try await makeClient(stub).download("/other", to: place.file, resuming: once)
        #expect(stub.ranges == [nil, "bytes=40-", nil])
        #expect(place.content == film)
    }

    @Test func aCancelledDownloadGoesOnLater() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let client = makeClient(stub)
        let task = Task {
            try await client.download("/film", to: place.file, resuming: .acrossLaunches) { progress in
                // The task cancels itself, so that no timing matters.
                if progress.completed >= 49 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(place.content == nil)
        try await client.download("/film", to: place.file, resuming: .acrossLaunches)
        #expect(stub.ranges == [nil, "bytes=49-"])
        #expect(place.content == film)
    }

    @Test func aChangedFileStartsOver() async throws {
        let place = try Destination()
        let new = Data.letters(90, from: 5)
        let stub = RangedFile(film, new).stub(cuts: [40])
        try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[1])
        #expect(stub.ranges == [nil, "bytes=40-"])
        #expect(place.content == new)
    }

    @Test func withoutAStrongValidatorNothingIsResumed() async throws {
        let place = try Destination()
        let stub = RangedFile(film, lie: .weakTag).stub(cuts: [40])
        try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[1])
        #expect(stub.ranges == [nil, nil])
        #expect(place.content == film)
    }

    @Test func aPartThatIsWholeAsksForOneByte() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [100])
        let lost = StubTransport { request in
            var response = try await stub.send(request)
            let bytes = try await response.body.collect(upTo: 1 << 20)
            response.body = .oneShot(
                Chunks([String(decoding: bytes, as: UTF8.self)], failure: TransportError(.timedOut, "Late."))
            )
            return response
        }
        let once = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)
        await #expect(throws: TransportError.self) {
            try await makeClient(lost).download("/film", to: place.file, resuming: once)
        }
        try await makeClient(stub).download("/film", to: place.file, resuming: once)
        #expect(stub.ranges == [nil, "bytes=99-", "bytes=99-"])
        #expect(place.content == film)
    }

    @Test func a416StartsOverAlsoBehindValidateStatus() async throws {
        let refusing = AnyInterceptor.intercept { try await refusing416($0, $1) }
        for interceptors in [[], [refusing]] {
            let place = try Destination()
            let stub = RangedFile(film, lie: .refusesRanges).stub(cuts: [40])
            try await makeClient(stub, interceptors).download("/film", to: place.file, resuming: .bothExtents[1])
            #expect(stub.ranges == [nil, "bytes=40-", nil])
            #expect(place.content == film)
        }
    }

    @Test func anErrorStatusEndsTheCallAndKeepsThePart() async throws {
        let place = try Destination()
        let file = RangedFile(film).stub(cuts: [40, 0])
        let stub = StubTransport(fallback: file)
        let once = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: once)
        }
        stub.enqueue(.status(503, body: "later"))
        let failure = await #expect(throws: StatusError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[1])
        }
        #expect(failure?.code == .unacceptedStatus)
        try await makeClient(stub).download("/film", to: place.file, resuming: once)
        #expect(file.ranges == [nil, "bytes=40-", "bytes=40-"])
        #expect(place.content == film)
    }

    @Test func aLimitRefusesThePartAndRemovesIt() async throws {
        for lie in [RangedFile.Lie.nothing, .weakTag] {
            let place = try Destination()
            let stub = RangedFile(film, lie: lie).stub()
            let error = await #expect(throws: TransportError.self) {
                try await makeClient(stub)
                    .download("/film", to: place.file, resuming: .bothExtents[1], upTo: 99)
            }
            #expect(error?.code == .bodyTooLarge)
            #expect(place.names.isEmpty)
        }
    }

    @Test(arguments: 0..<2) func moreBytesThanAnnouncedEndTheCall(extent: Int) async throws {
        let place = try Destination()
        let stub = RangedFile(Data.letters(100), lie: .sendsMoreThanPromised).stub(cuts: [40])
        let error = await #expect(throws: TransferError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[extent])
        }
        #expect(error?.code == .invalidRange)
        #expect(place.names.isEmpty && stub.openBodies == 0)
    }

    @Test func theCallersOwnRangeIsRefusedUnsent() async throws {
        let place = try Destination()
        let stub = StubTransport()
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub)
                .download("/film", to: place.file, resuming: .withinCall, headers: [.range: "bytes=0-1"])
        }
        #expect(error?.code == .invalidRequest && error?.sentNothing == true)
        #expect(stub.requests.isEmpty)
        #expect(place.names.isEmpty)
    }

    @Test func aSecondDownloadToTheSameFileIsRefusedUnsent() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let second = StubTransport()
        let client = makeClient(
            StubTransport { request in
                let error = await #expect(throws: TransferError.self) {
                    try await makeClient(second).download("/film", to: place.file, resuming: .acrossLaunches)
                }
                #expect(error?.code == .downloadInProgress)
                #expect(error?.localizedDescription == "The file is already being downloaded.")
                #expect(throws: TransferError.self) { try DownloadResuming.removeParts(of: place.file) }
                return try await stub.send(request)
            }
        )
        try await client.download("/film", to: place.file, resuming: .acrossLaunches)
        #expect(second.requests.isEmpty)
        #expect(place.content == film)
    }

    @Test func removePartsForgetsTheBytes() async throws {
        let place = try Destination()
        try DownloadResuming.removeParts(of: place.file)
        #expect(place.names.isEmpty)
        let stub = RangedFile(film).stub(cuts: [40, 0])
        let once = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: once)
        }
        #expect(place.names.count == 2)
        try DownloadResuming.removeParts(of: place.file)
        #expect(place.names.isEmpty)
    }

    @Test(arguments: [".film.mp4.part", ".film.mp4.part-state"])
    func aLinkPlantedAsThePartIsNotFollowed(name: String) async throws {
        let place = try Destination()
        let victim = try place.folder.write(Data("mine".utf8), to: "victim")
        try FileManager.default.createSymbolicLink(at: place.folder.file(name), withDestinationURL: victim)
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(RangedFile(film).stub())
                .download("/film", to: place.file, resuming: .acrossLaunches)
        }
        #expect(error?.code == .unwritableFile)
        #expect(try Data(contentsOf: victim) == Data("mine".utf8))
    }

    @Test func aLongNameHasAPart() async throws {
        let place = try Destination(String(repeating: "n", count: 255))
        try await makeClient(RangedFile(film).stub()).download("/film", to: place.file, resuming: .acrossLaunches)
        #expect(place.content == film)
        #expect(place.names.count == 1)
    }

    @Test func aReplacedFileKeepsItsPermissions() async throws {
        let place = try Destination()
        try Data("old".utf8).write(to: place.file)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: place.file.path)
        try await makeClient(RangedFile(film).stub()).download("/film", to: place.file, resuming: .acrossLaunches)
        let attributes = try FileManager.default.attributesOfItem(atPath: place.file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
        #expect(place.content == film)
    }

    @Test func aPartThatSomebodyShortenedStartsFromTheBeginning() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40, 0])
        let once = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: once)
        }
        try Data("short".utf8).write(to: place.folder.file(".film.mp4.part"))
        try await makeClient(stub).download("/film", to: place.file, resuming: once)
        #expect(stub.ranges == [nil, "bytes=40-", nil])
        #expect(place.content == film)
    }

    @Test func noSecretOfTheURLIsOnTheDisk() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40, 0])
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download(
                "/film?token=hush",
                to: place.file,
                resuming: .acrossLaunches.trying(for: .zero, time: .impatient)
            )
        }
        let state = try Data(contentsOf: place.folder.file(".film.mp4.part-state"))
        #expect(state.range(of: Data("hush".utf8)) == nil)
    }
}

/// Makes an error of a 416, as `validateStatus` does.
@Sendable private func refusing416(_ request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
    let response = try await next(request)
    guard response.status == 416 else { return response }
    throw RefusedStatus(response: response)
}

private struct RefusedStatus: HTTPError {
    let code = HTTPErrorCode.unacceptedStatus
    let message = "Refused."
    let response: HTTPResponse?
    let request: HTTPRequest.Summary? = nil
    let underlying: (any Error)? = nil
    var context = HTTPContext()

    init(response: HTTPResponse) { self.response = response }
}

extension Mutex<[TransferProgress]> {
    fileprivate func append(_ progress: TransferProgress) { withLock { $0.append(progress) } }
}
