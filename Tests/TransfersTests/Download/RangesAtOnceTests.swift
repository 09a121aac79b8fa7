import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransfers
@testable import InterceptorsTransport

extension DownloadResuming {
    /// Several ranges at once, of contents as small as a test's.
    static func pieces(
        _ ranges: Int,
        of smallest: Int64 = 20,
        acrossLaunches: Bool = true,
        patience: Duration = .seconds(120)
    ) -> Self {
        var resuming =
            acrossLaunches
            ? Self.acrossLaunches(patience: patience, ranges: ranges, time: .impatient)
            : .withinCall(patience: patience, ranges: ranges, time: .impatient)
        resuming.smallestRange = smallest
        return resuming
    }
}

/// Downloads of several ranges at once.
@Suite(.againstHanging) struct RangesAtOnceTests {
    private let film = Data.letters(100)
    private let further: Set<String> = ["bytes=25-49", "bytes=50-74", "bytes=75-"]

    // MARK: The requests

    @Test(arguments: [true, false]) func fourRequestsBringOneFile(acrossLaunches: Bool) async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let seen = Mutex<[Int64]>([])
        let response = try await makeClient(stub)
            .download("/film", to: place.file, resuming: .pieces(4, acrossLaunches: acrossLaunches)) { progress in
                #expect(progress.total == 100)
                seen.withLock { $0.append(progress.completed) }
            }
        #expect(place.content == film)
        #expect(place.names == ["film.mp4"])
        #expect(stub.ranges[0] == nil, "the first request is an ordinary one")
        #expect(Set(stub.ranges.compactMap(\.self)) == further && stub.requests.count == 4)
        #expect(stub.requests.dropFirst().allSatisfy { $0.headerFields[.ifRange] == "\"0\"" })
        #expect(stub.requests.allSatisfy { $0.headerFields[.acceptEncoding] == "identity" })
        #expect(response.status == 200)
        #expect(seen.withLock { $0 == $0.sorted() && $0.last == 100 })
        #expect(stub.openBodies == 0)
    }

    @Test func byDefaultOneRequestBringsTheFile() async throws {
        for resuming in DownloadResuming.bothExtents + [.pieces(1)] {
            let place = try Destination()
            var resuming = resuming
            resuming.smallestRange = 1
            let stub = RangedFile(film).stub()
            try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
            #expect(stub.ranges == [nil])
        }
    }

    @Test func theNumberOfRangesHasLimits() {
        #expect([Int.min, -1, 0, 1].map { DownloadResuming.withinCall(ranges: $0).ranges } == [1, 1, 1, 1])
        #expect([2, 8, 9, .max].map { DownloadResuming.acrossLaunches(ranges: $0).ranges } == [2, 8, 8, 8])
        #expect(DownloadResuming.acrossLaunches.ranges == 1 && DownloadResuming.never.ranges == 1)
    }

    @Test(
        arguments: [
            [.acceptRanges: "bytes", .contentLength: "100"],
            [.acceptRanges: "bytes", .contentLength: "100", .eTag: "W/\"1\""],
            [.eTag: "\"1\"", .contentLength: "100"],
            [.eTag: "\"1\"", .contentLength: "100", .acceptRanges: "none"],
            [.eTag: "\"1\"", .acceptRanges: "bytes"],
        ] as [HTTPFields]
    )
    func aServerThatDoesNotInviteRangesIsAskedOnce(fields: HTTPFields) async throws {
        let place = try Destination()
        let stub = StubTransport { [film] _ in
            HTTPResponse(status: 200, headerFields: fields, body: .oneShot(Pieces(bytes: film, failure: nil)))
        }
        try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4))
        #expect(stub.ranges == [nil])
        #expect(place.content == film)
    }

    @Test func aShortContentIsAskedForOnce() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4, of: 51))
        #expect(stub.ranges == [nil])
        try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4, of: 50))
        #expect(stub.ranges == [nil, nil, "bytes=50-"])
        #expect(DownloadResuming.acrossLaunches.smallestRange == 1 << 20)
    }

    @Test func eachRequestRunsTheChain() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let numbers = Tally()
        let numbered = AnyInterceptor.intercept { request, next in
            var request = request
            request.headerFields["X-Number"] = "\(numbers.count())"
            return try await next(request)
        }
        try await makeClient(stub, [numbered]).download("/film", to: place.file, resuming: .pieces(4))
        #expect(Set(stub.requests.map { $0.headerFields["X-Number"] }) == ["1", "2", "3", "4"])
    }

    // MARK: Going on

    @Test func aPartialResponseIsAnInvitation() async throws {
        let place = try Destination()
        await #expect(throws: TransportError.self) {
            try await makeClient(RangedFile(film).stub(cuts: [40, 0]))
                .download("/film", to: place.file, resuming: .pieces(1, patience: .zero))
        }
        let stub = RangedFile(film).stub()
        let response = try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(3))
        #expect(response.status == 206)
        #expect(stub.ranges[0] == "bytes=40-")
        #expect(Set(stub.ranges.compactMap(\.self)) == ["bytes=40-", "bytes=60-79", "bytes=80-"])
        #expect(place.content == film)
    }

    /// Leaves some bytes of each of four ranges.
    private func breakOff(_ place: Destination) async throws {
        let stub = RangedFile(film).stub(cuts: [14, 7, 14, 7] + Array(repeating: 0, count: 20))
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4, patience: .zero))
        }
        #expect(stub.openBodies == 0)
    }

    @Test(arguments: [1, 2, 4, 8]) func aLaterCallFillsTheGaps(ranges: Int) async throws {
        let place = try Destination()
        try await breakOff(place)
        let stub = RangedFile(film).stub()
        try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(ranges))
        #expect(place.content == film)
        #expect(place.names == ["film.mp4"])
        #expect(!stub.ranges.contains(nil), "no request asks for the whole")
        let asked = stub.ranges.compactMap { $0.flatMap(RangedFile.range)?.clamped(to: 0..<100).count }
        #expect(ranges > 1 || asked.reduce(0, +) < 100, "the bytes that are there aren't asked for")
    }

    @Test(arguments: [1, 4]) func theGapsOfAChangedFileAreNotFilled(ranges: Int) async throws {
        let place = try Destination()
        try await breakOff(place)
        let new = Data.letters(100, from: 5)
        let file = RangedFile(film, new)
        let changed = StubTransport { file.response(to: $0, number: 1) }
        try await makeClient(changed).download("/film", to: place.file, resuming: .pieces(ranges))
        #expect(place.content == new)
    }

    @Test func anAttemptThatBrokeOffGoesOnWithSeveralRanges() async throws {
        let place = try Destination()
        // Each connection breaks once or more, with and without bytes.
        let stub = RangedFile(film).stub(cuts: [7, 7, 7, 0, 0, 0, 7, 0, 7, 7])
        try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4))
        #expect(place.content == film)
        #expect(stub.openBodies == 0)
    }

    @Test func aLimitRefusesThePartBeforeItIsDivided() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4), upTo: 99)
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(stub.requests.count == 1)
        #expect(place.names.isEmpty)
    }

    // MARK: The disk

    @Test func bytesWhoseSynchronizingFailedAreNeverTrusted() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let calls = Tally()
        var resuming = DownloadResuming.pieces(4)
        resuming.checkpoint.bytes = 10
        resuming.protection.synchronize = { (file) throws(SystemCallFailure) in
            if calls.count() == 1 { throw SystemCallFailure("fsync", file.path, EIO) }
        }
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
        }
        #expect(error?.code == .unwritableFile)
        #expect(calls.value == 1, "a second call would succeed wrongly")
        #expect(stub.openBodies == 0)
        let later = RangedFile(film).stub()
        try await makeClient(later).download("/film", to: place.file, resuming: .pieces(4))
        #expect(later.ranges[0] == nil)
        #expect(place.content == film)
    }

    /// In a power failure, a file has the bytes of its last synchronization.
    @Test func aRecordNamesOnlyBytesThatAreOnTheDisk() async throws {
        let place = try Destination()
        let film = Data.letters(1_000)
        let (part, state) = (place.folder.file(".film.mp4.part"), place.folder.file(".film.mp4.part-state"))
        let disk = Mutex(Data())
        let safe = Mutex<[ByteSet]>([])
        var resuming = DownloadResuming.pieces(4)
        resuming.checkpoint.bytes = 20
        resuming.protection.synchronize = { (_) throws(SystemCallFailure) in
            guard let bytes = try? Data(contentsOf: part) else { return }
            disk.withLock { $0 = bytes }
        }
        let stub = RangedFile(film).stub()
        try await makeClient(stub).download("/film", to: place.file, resuming: resuming) { _ in
            guard let bytes = try? Data(contentsOf: state), let record = DownloadRecord(file: Array(bytes)) else {
                Issue.record("no record")
                return
            }
            let synchronized = disk.withLock(\.self)
            for range in [0..<record.safe.prefix] + record.safe.later where !range.isEmpty {
                let (start, end) = (Int(range.lowerBound), Int(range.upperBound))
                #expect(
                    end <= synchronized.count && synchronized[start..<min(end, synchronized.count)] == film[start..<end]
                )
            }
            safe.withLock { $0.append(record.safe) }
        }
        #expect(place.content == film)
        #expect(safe.withLock { $0.contains { !$0.later.isEmpty } }, "records name several ranges")
    }

    // MARK: The end

    @Test func cancellingEndsAllRequests() async throws {
        let place = try Destination()
        let file = RangedFile(film)
        let stub = StubTransport { request in
            var response = file.response(to: request, number: 0)
            let bytes = try await response.body.collect(upTo: 100)
            response.body = .oneShot(HeldPieces(bytes: bytes, gate: Gate()))
            return response
        }
        let client = makeClient(stub)
        let arrived = Tally()
        let task = Task {
            try await client.download("/film", to: place.file, resuming: .pieces(4)) { _ in arrived.count() }
        }
        await arrived.reached(4)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.openBodies == 0)
        let part = place.folder.file(".film.mp4.part")
        #expect(try Data(contentsOf: part).count == 82, "each response has brought seven bytes")
        let later = RangedFile(film).stub()
        try await makeClient(later).download("/film", to: place.file, resuming: .pieces(1))
        #expect(later.ranges == ["bytes=7-24", "bytes=32-49", "bytes=57-74", "bytes=82-"])
        #expect(place.content == film)
    }

    @Test func aWrongDigestBringsOneRequestForTheWhole() async throws {
        let place = try Destination()
        let new = Data.letters(100, from: 3)
        // The tag stays while the content changes.
        let stub = RangedFile(film, new, lie: .keepsItsTag).stub()
        try await makeClient(stub)
            .download("/film", to: place.file, resuming: .pieces(4), expecting: try new.sha256)
        #expect(stub.ranges.first == .some(nil) && stub.ranges.last == .some(nil))
        #expect(stub.requests.count == 5, "the second time, one response brings all bytes")
        #expect(place.content == new)
    }

    @Test func moreBytesThanAnnouncedEndTheCall() async throws {
        let place = try Destination()
        let stub = RangedFile(film, lie: .sendsMoreThanPromised).stub()
        let error = await #expect(throws: DownloadError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4))
        }
        #expect(error?.code == .invalidRange)
        #expect(place.names.isEmpty && stub.openBodies == 0)
    }
}
