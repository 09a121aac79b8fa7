import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

/// For every fault of the server and every break of the connection, the file is right or missing.
@Suite(.againstHanging, .heavy) struct DownloadPropertyTests {
    private static let old = Data.letters(24)
    private static let new = Data.letters(24, from: 7)

    private func download(
        _ file: RangedFile,
        cuts: [Int],
        sha256 digest: String?,
        _ label: String
    ) async throws {
        for resuming in DownloadResuming.bothExtents {
            let place = try Destination()
            let stub = file.stub(cuts: cuts)
            do {
                try await makeClient(stub)
                    .download("/film", to: place.file, resuming: resuming, sha256: digest)
                #expect(place.content == file.content(stub.requests.count - 1), "\(label)")
                #expect(place.names == ["film.mp4"], "\(label)")
            } catch is TransferError {
                #expect(file.lie != .nothing, "\(label)")
                #expect(place.names.isEmpty, "\(label)")
            } catch is TransportError {
                #expect(file.lie != .nothing, "\(label)")
                #expect(place.content == nil, "\(label)")
            }
            #expect(stub.openBodies == 0, "\(label)")
        }
    }

    @Test(arguments: RangedFile.Lie.allCases) func cutAtEachOffset(lie: RangedFile.Lie) async throws {
        for first in 0...24 {
            for second in [0, 1, 11, 100] {
                try await download(
                    RangedFile(Self.old, lie: lie),
                    cuts: [first, second],
                    sha256: nil,
                    "\(lie), \(first), \(second)"
                )
            }
        }
    }

    @Test(arguments: RangedFile.Lie.allCases) func cutAtEachOffsetWhileTheContentChanges(
        lie: RangedFile.Lie
    ) async throws {
        for first in 0...24 {
            for second in [0, 1, 11, 100] {
                let digest = lie.needsDigest ? try Self.new.sha256 : nil
                try await download(
                    RangedFile(Self.old, Self.new, lie: lie),
                    cuts: [first, second],
                    sha256: digest,
                    "\(lie), \(first), \(second)"
                )
            }
        }
    }

    @Test(arguments: RangedFile.Lie.allCases) func aLyingServerHelpsInTheEnd(lie: RangedFile.Lie) async throws {
        let place = try Destination()
        let file = RangedFile(Self.old, Self.new, lie: lie)
        let client = makeClient(file.stub(cuts: [11]))
        let digest = try Self.new.sha256
        // More bytes than promised are refused; the next call starts from the beginning.
        for _ in 0..<2 where place.content == nil {
            _ = try? await client.download("/film", to: place.file, resuming: .bothExtents[1], sha256: digest)
        }
        #expect(place.content == Self.new)
    }

    @Test(arguments: RangedFile.Lie.allCases) func cutOverSockets(lie: RangedFile.Lie) async throws {
        let server = try MockServer()
        defer { server.stop() }
        let content = Data.letters(200_000)
        RangedFile(content, lie: lie).serve(on: server, cuts: [70_000, 50_000])
        let place = try Destination()
        let client = Client(baseURL: server.url, interceptors: [])
        for _ in 0..<2 where place.content == nil {
            _ =
                try? await client
                .download("/file", to: place.file, resuming: .bothExtents[1], sha256: try content.sha256)
        }
        #expect(place.content == content, "\(lie)")
        #expect(place.names == ["film.mp4"])
        if lie == .nothing {
            let ranges = server.requests.map { $0.headers[.range] }
            #expect(ranges.count == 3 && ranges[1] == "bytes=70000-" && ranges[2] == "bytes=120000-")
        }
    }
}
