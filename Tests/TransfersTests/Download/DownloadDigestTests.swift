import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct DownloadDigestTests {
    private let film = Data.letters(100)
    private let other = Data.letters(100, from: 3)

    @Test(arguments: DownloadResuming.bothExtents)
    func theRightDigestIsAccepted(resuming: DownloadResuming) async throws {
        let place = try Destination()
        try await makeClient(RangedFile(film).stub())
            .download("/film", to: place.file, resuming: resuming, expecting: film.sha256)
        #expect(place.content == film)
    }

    @Test(arguments: DownloadResuming.bothExtents)
    func theWrongDigestLeavesTheEarlierFile(resuming: DownloadResuming) async throws {
        let place = try Destination()
        try Data("old".utf8).write(to: place.file)
        let error = await #expect(throws: TransferError.self) {
            try await makeClient(RangedFile(film).stub())
                .download("/film", to: place.file, resuming: resuming, expecting: other.sha256)
        }
        #expect(error?.code == .digestMismatch)
        let (right, wrong) = (try film.sha256, try other.sha256)
        #expect(error?.message.contains("has the digest \(right), not \(wrong.hexadecimal)") == true)
        #expect(place.content == Data("old".utf8))
        #expect(place.names == ["film.mp4"], "the bytes would fail the next call too")
    }

    @Test func aWrongFileOfSeveralResponsesIsDownloadedOnceMore() async throws {
        let place = try Destination()
        // The tag stays while the content changes.
        let stub = RangedFile(other, film, lie: .keepsItsTag).stub(cuts: [40])
        try await makeClient(stub)
            .download("/film", to: place.file, resuming: .bothExtents[1], expecting: try film.sha256)
        #expect(stub.ranges == [nil, "bytes=40-", nil])
        #expect(place.content == film)
    }

    @Test func anAnnouncedDigestIsChecked() async throws {
        for resuming in DownloadResuming.bothExtents {
            let place = try Destination()
            let stub = StubTransport()
            let fields: HTTPFields = [
                .eTag: "\"1\"", .contentLength: "3", .reprDigest: try MessageDigestText.sha256(Data("abc".utf8)),
            ]
            stub.on(.get, "/v1/right", .status(200, headers: fields, body: "abc"))
            stub.on(.get, "/v1/wrong", .status(200, headers: fields, body: "abd"))
            let client = makeClient(stub)
            try await client.download("/right", to: place.file, resuming: resuming)
            let error = await #expect(throws: TransferError.self) {
                try await client.download("/wrong", to: place.file, resuming: resuming)
            }
            #expect(error?.code == .digestMismatch)
            #expect(place.content == Data("abc".utf8))
        }
    }

    @Test func theExpectedDigestOverridesTheAnnouncedOne() async throws {
        for resuming in DownloadResuming.bothExtents {
            let place = try Destination()
            let stub = StubTransport()
            let fields: HTTPFields = [
                .eTag: "\"1\"", .contentLength: "3", .reprDigest: try MessageDigestText.sha256(Data("abd".utf8)),
            ]
            stub.on(.get, "/v1/film", .status(200, headers: fields, body: "abc"))
            let client = makeClient(stub)
            try await client.download("/film", to: place.file, resuming: resuming, expecting: Data("abc".utf8).sha256)
            #expect(place.content == Data("abc".utf8))
            let error = await #expect(throws: TransferError.self) {
                try await client.download("/film", to: place.file, resuming: resuming, expecting: film.sha256)
            }
            #expect(error?.message.contains("not \(try film.sha256.hexadecimal)") == true)
        }
    }

    @Test func anotherAnnouncedDigestStartsOver() async throws {
        let place = try Destination()
        var file = RangedFile(other, film, lie: .keepsItsTag)
        file.isDigestAnnounced = true
        let stub = file.stub(cuts: [40])
        try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[1])
        #expect(stub.ranges == [nil, "bytes=40-", nil])
        #expect(place.content == film)
    }

    @Test func aDigestThatOnlyAPartAnnouncedIsKeptForALaterCall() async throws {
        let place = try Destination()
        let requests = Tally()
        let stub = StubTransport { [film, other] request in
            let number = requests.count()
            if number == 3 { throw TransportError(.connectionLost, "Gone.") }
            // The tag stays while the content changes.
            let file = RangedFile(number == 4 ? other : film, lie: .keepsItsTag)
            var (status, fields, body) = file.answer(request.headerFields, number: 0)
            if number == 2 { fields[.reprDigest] = try MessageDigestText.sha256(film) }
            let failure = number < 3 ? TransportError(.truncated, "The connection was cut.") : nil
            let chunks = Pieces(bytes: number < 3 ? body.prefix(30) : body, failure: failure)
            return HTTPResponse(status: status, headerFields: fields, body: .oneShot(chunks))
        }
        await #expect(throws: TransportError.self) {
            let resuming = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)
            try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
        }
        #expect(stub.ranges == [nil, "bytes=30-", "bytes=60-"])
        try await makeClient(stub).download("/film", to: place.file, resuming: .acrossLaunches)
        #expect(stub.ranges == [nil, "bytes=30-", "bytes=60-", "bytes=60-", nil])
        #expect(place.content == film)
    }

    @Test func somethingElseThanADigestIsRefusedUnsent() async throws {
        let place = try Destination()
        let stub = StubTransport()
        let digests = [
            DownloadDigest.sha256("abc"), .sha256(String(repeating: "é", count: 32)), .sha256(Data()),
            .sha256(String(repeating: "0", count: 128)), .sha256(Data(repeating: 0, count: 64)),
        ]
        for digest in digests {
            let error = await #expect(throws: TransportError.self) {
                try await makeClient(stub).download("/film", to: place.file, expecting: digest)
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message.contains("expected SHA-256 is neither") == true)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func aDigestIsReadInEitherCase() throws {
        let digest = try film.sha256
        #expect(digest.description == "sha-256 \(digest.hexadecimal)" && digest.hexadecimal.count == 64)
        for text in [digest.hexadecimal, digest.hexadecimal.uppercased()] {
            #expect(DownloadDigest.sha256(text) == digest)
        }
    }
}
