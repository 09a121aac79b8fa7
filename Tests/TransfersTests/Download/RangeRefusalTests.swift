import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransfers

/// Servers that don't answer the requests for further ranges by these ranges. The tasks run in an order that a seed decides.
@Suite(.againstHanging) struct RangeRefusalTests {
    private static let film = Data.letters(100)
    private static let new = Data.letters(100, from: 9)

    /// Downloads while the first response waits until all other requests have been answered.
    private func download(
        seed: UInt64,
        _ place: Destination,
        expecting digest: DownloadDigest? = nil,
        _ further: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse
    ) async throws -> StubTransport {
        let gate = Gate()
        let stub = StubTransport { request in
            guard request.headerFields[.range] == nil else { return try further(request) }
            var response = RangedFile(Self.film).response(to: request, number: 0)
            response.body = .oneShot(HeldPieces(bytes: Self.film, gate: gate))
            return response
        }
        let queue = try JobQueue(seed: seed)
        let task = queue.enter {
            Task {
                let resuming = DownloadResuming.pieces(4, acrossLaunches: false)
                try await makeClient(stub).download("/film", to: place.file, resuming: resuming, expecting: digest)
            }
        }
        queue.runAll()
        queue.enter { gate.open() }
        queue.runAll()
        try await task.value
        #expect(stub.openBodies == 0)
        return stub
    }

    @Test(arguments: [429, 503, 401, 403, 404, 500, 416, 304] as [HTTPResponse.Status])
    func aRefusedRangeIsNoFailure(status: HTTPResponse.Status) async throws {
        for seed in 0..<20 as Range<UInt64> {
            let place = try Destination()
            let stub = try await download(seed: seed, place) { _ in HTTPResponse(status: status) }
            #expect(place.content == Self.film, "seed \(seed)")
            // The first response goes on into the other ranges.
            #expect(stub.ranges.filter { $0 == nil }.count == 1 && stub.requests.count <= 4, "seed \(seed)")
        }
    }

    @Test func aFailedConnectionIsNoFailure() async throws {
        for seed in 0..<20 as Range<UInt64> {
            let place = try Destination()
            let stub = try await download(seed: seed, place) { _ in throw TransportError(.cannotConnect, "No.") }
            #expect(place.content == Self.film && stub.requests.count == 4, "seed \(seed)")
        }
    }

    @Test(
        arguments: [
            RangedFile.Lie.ignoresRanges, .startsElsewhere, .namesAnotherTotal, .confirmsNothing,
            .confirmsAnotherVersion,
            .sendsNoContentRange, .sendsManyParts, .refusesRanges, .codesRanges,
        ]
    )
    func anotherAnswerEndsTheFurtherRanges(lie: RangedFile.Lie) async throws {
        for seed in 0..<20 as Range<UInt64> {
            let place = try Destination()
            let file = RangedFile(Self.film, lie: lie)
            let stub = try await download(seed: seed, place) { file.response(to: $0, number: 0) }
            #expect(place.content == Self.film, "seed \(seed)")
            #expect(stub.ranges.filter { $0 == nil }.count == 1 && stub.requests.count <= 4, "seed \(seed)")
        }
    }

    /// A 206 may be shorter than the requested range. Bytes after its end have no known place.
    @Test func moreBytesThanAShorterRangeAnnouncesEndTheCall() async throws {
        for seed in 0..<20 as Range<UInt64> {
            let place = try Destination()
            let error = await #expect(throws: DownloadError.self) {
                _ = try await download(seed: seed, place) { request in
                    let whole = RangedFile(Self.film).response(to: request, number: 0)
                    var shorter = RangedFile(Self.film, lie: .sendsLessThanAsked).response(to: request, number: 0)
                    shorter.headerFields[.contentLength] = nil
                    shorter.body = whole.body
                    return shorter
                }
            }
            #expect(error?.code == .invalidRange && place.names.isEmpty, "seed \(seed)")
        }
    }

    @Test func aFileThatChangesMeanwhileIsNeverMixed() async throws {
        for seed in 0..<60 as Range<UInt64> {
            let place = try Destination()
            // Some ranges are still of the old version.
            let (file, requests) = (RangedFile(Self.film, Self.new), Tally())
            let first = Int(seed % 4)
            let stub = try await download(seed: seed, place) {
                file.response(to: $0, number: requests.count() > first ? 1 : 0)
            }
            // After a range of the old version, the first response can't complete it.
            #expect(place.content == Self.film || place.content == Self.new, "seed \(seed)")
            #expect(stub.requests.count <= 6, "seed \(seed)")
        }
    }

    @Test func aServerWithALimitOfConnectionsGivesFewerRanges() async throws {
        for seed in 0..<60 as Range<UInt64> {
            for limit in 1...3 {
                let place = try Destination()
                let stub = LimitedServer(Self.film, limit: limit).stub()
                let queue = try JobQueue(seed: seed)
                let task = queue.enter {
                    Task {
                        let resuming = DownloadResuming.pieces(4, of: 5, acrossLaunches: false)
                        try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
                    }
                }
                queue.runAll()
                try await task.value
                #expect(place.content == Self.film, "seed \(seed), limit \(limit)")
                #expect(stub.openBodies == 0)
            }
        }
    }

    @Test func aServerThatRefusesForGoodEndsTheCall() async throws {
        let place = try Destination()
        let requests = Tally()
        let stub = StubTransport { request in
            guard requests.count() == 1 else { return HTTPResponse(status: 429) }
            var response = RangedFile(Self.film).response(to: request, number: 0)
            let failure = TransportError(.connectionLost, "Gone.")
            response.body = .oneShot(Pieces(bytes: Self.film.prefix(14), failure: failure))
            return response
        }
        await #expect(throws: DownloadError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4))
        }
        #expect(stub.requests.count < 20)
        #expect(place.content == nil)
    }

    /// The first response breaks off, and the server refuses the further ranges and the next request, as often as given.
    private func refusing(_ count: Int, retryAfter: String) -> StubTransport {
        let (requests, file) = (Tally(), RangedFile(Self.film))
        return StubTransport { request in
            let number = requests.count()
            guard number == 1 || number > 4 + count else {
                return HTTPResponse(status: 429, headerFields: [.retryAfter: retryAfter])
            }
            var response = file.response(to: request, number: 0)
            guard number == 1 else { return response }
            let failure = TransportError(.connectionLost, "Gone.")
            response.body = .oneShot(Pieces(bytes: Self.film.prefix(14), failure: failure))
            return response
        }
    }

    @Test func theWaitThatARefusalAsksForIsHonored() async throws {
        let (place, clock) = (try Destination(), ManualClock())
        let time = TimeSource(clock: clock, random: RandomSource { 0 })
        var resuming = DownloadResuming.acrossLaunches(ranges: 4, time: time)
        resuming.smallestRange = 20
        let stub = refusing(2, retryAfter: "30")
        _ = try await clock.run { [resuming] in
            try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
        }
        #expect(place.content == Self.film)
        #expect(clock.now.elapsed == .seconds(60))
    }

    @Test func aLongWaitThatARefusalAsksForEndsTheCall() async throws {
        let place = try Destination()
        let stub = refusing(1, retryAfter: "61")
        await #expect(throws: DownloadError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: .pieces(4))
        }
        #expect(stub.requests.count == 5)
    }
}

/// A server that sends at most so many responses at once, and refuses all other requests.
private final class LimitedServer: Sendable {
    private let file: RangedFile
    private let limit: Int
    private let open = Mutex(0)

    init(_ content: Data, limit: Int) {
        file = RangedFile(content)
        self.limit = limit
    }

    func stub() -> StubTransport {
        StubTransport { [self] request in
            let isFree = open.withLock { open in
                guard open < limit else { return false }
                open += 1
                return true
            }
            guard isFree else { return HTTPResponse(status: 429) }
            var response = file.response(to: request, number: 0)
            response.body = response.body.onEnd { [self] _ in open.withLock { $0 -= 1 } }
            return response
        }
    }
}
