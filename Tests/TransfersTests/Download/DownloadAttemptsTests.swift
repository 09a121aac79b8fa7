import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

/// When a download tries again, and when it gives up.
@Suite(.againstHanging) struct DownloadAttemptsTests {
    private let film = Data.letters(100)

    @Test func attemptsThatBringNothingNewAreCounted() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40, 0, 0, 7, 0, 0])
        try await makeClient(stub)
            .download("/film", to: place.file, resuming: .withinCall(answers: 3))
        #expect(stub.requests.count == 7)
        #expect(place.content == film)
    }

    @Test func theLastOfTheAttemptsThatBringNothingNewEndsTheCall() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub(cuts: [40, 0, 0, 0])
        await #expect(throws: TransportError.self) {
            try await makeClient(stub)
                .download("/film", to: place.file, resuming: .withinCall(answers: 3))
        }
        #expect(stub.requests.count == 4)
    }

    @Test func theBytesOfAnotherVersionAreCountedFromTheirFirst() async throws {
        let place = try Destination()
        let new = Data.letters(100, from: 5)
        let stub = RangedFile(film, new).stub(cuts: [40, 10, 5, 5, 5])
        try await makeClient(stub)
            .download("/film", to: place.file, resuming: .withinCall(answers: 2))
        #expect(stub.requests.count == 6)
        #expect(place.content == new)
    }

    @Test func aDownloadThatAlwaysChangesEnds() async throws {
        let place = try Destination()
        var file = RangedFile(film)
        file.versions = (0..<20).map { Data.letters(100, from: $0) }
        let stub = file.stub(cuts: (0..<20).map { $0.isMultiple(of: 2) ? 30 : 40 })
        await #expect(throws: TransportError.self) {
            try await makeClient(stub)
                .download("/film", to: place.file, resuming: .withinCall(answers: 3))
        }
        #expect(stub.requests.count == 4)
    }

    @Test(arguments: [HTTPErrorCode.connectionLost, .timedOut, .truncated, .readerTooSlow])
    func aTemporaryFailureIsNoEnd(code: HTTPErrorCode) async throws {
        let place = try Destination()
        let requests = Tally()
        let stub = StubTransport { [film] request in
            var response = RangedFile(film).response(to: request, number: 0)
            guard requests.count() == 1 else { return response }
            response.body = .oneShot(Pieces(bytes: film.prefix(40), failure: TransportError(code, "It broke.")))
            return response
        }
        try await makeClient(stub).download("/film", to: place.file, resuming: .withinCall.trying(time: .impatient))
        #expect(stub.ranges == [nil, "bytes=40-"])
        #expect(place.content == film)
    }

    @Test func aDownloadThatChangesAfterEachProgressEnds() async throws {
        let place = try Destination()
        var file = RangedFile(film)
        file.versions = (0..<20).map { Data.letters(100, from: $0) }
        let requests = Tally()
        // Each version brings two bytes, and then two more.
        let stub = StubTransport { [file] request in
            let answer = file.answer(request.headers, number: (requests.count() - 1) / 2)
            let failure = TransportError(.truncated, "The connection was cut.")
            let body = HTTPBody.oneShot(Pieces(bytes: answer.body.prefix(2), failure: failure))
            return HTTPResponse(status: answer.status, headers: answer.fields, body: body)
        }
        await #expect(throws: TransportError.self) {
            try await makeClient(stub)
                .download("/film", to: place.file, resuming: .withinCall(answers: 3))
        }
        #expect(stub.ranges == [nil, "bytes=2-", "bytes=4-", "bytes=2-", "bytes=4-", "bytes=2-", "bytes=4-"])
    }

    @Test func contentThatCannotBeContinuedCountsAsNoProgress() async throws {
        let place = try Destination()
        let requests = Tally()
        let stub = StubTransport { [film] _ in
            let count = requests.count()
            let failure = TransportError(.connectionLost, "Gone.")
            return HTTPResponse(status: 200, body: .oneShot(Pieces(bytes: film.prefix(count), failure: failure)))
        }
        await #expect(throws: TransportError.self) {
            try await makeClient(stub)
                .download("/film", to: place.file, resuming: .withinCall(answers: 3))
        }
        #expect(stub.ranges == [nil, nil, nil])
    }

    @Test func aDownloadThatNeverGetsFurtherEnds() async throws {
        let place = try Destination()
        // Each attempt starts over and breaks off at the same byte.
        let stub = RangedFile(film, lie: .ignoresRanges).stub(cuts: Array(repeating: 40, count: 100))
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub)
                .download("/film", to: place.file, resuming: .withinCall(answers: 3))
        }
        #expect(error?.code == .truncated)
        #expect(stub.requests.count == 4, "the first attempt brought something")
        #expect(place.names.isEmpty)
    }

    @Test func theWaitsGrowOnTheGivenClock() async throws {
        let place = try Destination()
        let clock = ManualClock()
        let time = TimeSource(clock: clock, random: RandomSource { .max })
        let stub = StubTransport { _ in throw TransportError(.connectionLost, "Gone.") }
        await #expect(throws: TransportError.self) {
            try await clock.run {
                try await makeClient(stub).download(
                    "/film",
                    to: place.file,
                    resuming: .withinCall.trying(time: time)
                )
            }
        }
        // 0.2 s and so on to 12.8 s are 25.4 s. Then come four waits of 20 s, and the rest of the two minutes.
        #expect(stub.requests.count == 13)
        #expect(clock.now.elapsed == .seconds(120))
    }
}
