import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct SharedPartTests {
    /// Worker 0 reads the whole, and its range is the first half. A chunk crosses the border while worker 1 has the second half,
    /// and worker 1 gives it back while the checkpoint after the chunk is running.
    @Test func bytesDroppedAtABorderAreNotSkipped() async throws {
        let film = Data.letters(48)
        let (begun, mayEnd) = (Gate(), DispatchSemaphore(value: 0))
        var resuming = DownloadResuming.pieces(2, of: 1, acrossLaunches: true)
        resuming.checkpoint = .init(bytes: 22, interval: .seconds(3_600))
        resuming.protection.synchronize = { (_) throws(SystemCallFailure) in
            begun.open()
            mayEnd.wait()
        }
        let place = try Destination()
        guard
            case .opened(let part) = try DownloadPart.kept(
                for: place.file,
                source: try #require(URL(string: "https://a.example/film")),
                permissions: nil,
                resuming.protection
            )
        else { throw CocoaError(.fileLocking) }
        try part.begin(Representation(validator: .entityTag("\"1\""), total: 48), announced: nil)
        var ranges = DownloadRanges(missing: [0..<48], workers: 2, smallest: 1)
        #expect(ranges.assign(to: 0) == 0..<24 && ranges.assign(to: 1) == 24..<48)
        let shared = SharedPart(part, ranges, total: 48, resuming, progress: nil)
        await shared.begin(0, 0..<48)
        #expect(try await shared.write(film[0..<21], by: 0))
        async let isOfUse = shared.write(film[21..<28], by: 0)
        await begun.opened()
        await shared.end(1)
        mayEnd.signal()
        // The bytes from 24 to 28 are gone, so what follows them can't be written.
        #expect(try await !isOfUse)
        mayEnd.signal()
        #expect(try await !shared.write(film[28..<35], by: 0))
        #expect(part.gaps == [24..<48])
        #expect(await shared.next(for: 1) == 24..<48)
    }
}
