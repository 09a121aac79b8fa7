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
            .download("/film", to: place.file, resuming: resuming, sha256: film.sha256)
        #expect(place.content == film)
    }

    @Test(arguments: DownloadResuming.bothExtents)
    func theWrongDigestLeavesTheEarlierFile(resuming: DownloadResuming) async throws {
        let place = try Destination()
        try Data("old".utf8).write(to: place.file)
        let error = await #expect(throws: TransferError.self) {
            try await makeClient(RangedFile(film).stub())
                .download("/film", to: place.file, resuming: resuming, sha256: other.sha256)
        }
        #expect(error?.code == .digestMismatch)
        let (right, wrong) = (try film.sha256, try other.sha256)
        #expect(error?.message.contains("has the SHA-256 \(right), not \(wrong)") == true)
        #expect(place.content == Data("old".utf8))
        #expect(place.names == ["film.mp4"], "the bytes would fail the next call too")
    }

    @Test func aWrongFileOfSeveralResponsesIsDownloadedOnceMore() async throws {
        let place = try Destination()
        // The tag stays while the content changes.
        let stub = RangedFile(other, film, lie: .keepsItsTag).stub(cuts: [40])
        try await makeClient(stub)
            .download("/film", to: place.file, resuming: .bothExtents[1], sha256: try film.sha256)
        #expect(stub.ranges == [nil, "bytes=40-", nil])
        #expect(place.content == film)
    }

    @Test func somethingElseThanADigestIsRefusedUnsent() async throws {
        let place = try Destination()
        let stub = StubTransport()
        let digests = ["abc", "", String(repeating: "é", count: 32), String(repeating: "0", count: 128)]
        for digest in digests {
            let error = await #expect(throws: TransportError.self) {
                try await makeClient(stub).download("/film", to: place.file, sha256: digest)
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message.contains("expected SHA-256 isn't 64") == true)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func aDigestIsReadInEitherCase() async throws {
        for digest in [try film.sha256, try film.sha256.uppercased()] {
            let place = try Destination()
            try await makeClient(RangedFile(film).stub()).download("/film", to: place.file, sha256: digest)
            #expect(place.content == film)
        }
    }
}
