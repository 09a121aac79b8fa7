#if os(Linux)
import Foundation
import Synchronization
import Testing

@testable import Transport

@Suite(.againstHanging) struct CurlDownloadTests {
    private static let piece = Data(repeating: 5, count: 16 << 10)

    private static func download() -> CurlDownload {
        CurlDownload(pool: BlockPool(), onDrained: {}, onAbandoned: {}, onReleased: {})
    }

    /// Reads chunks until the end, and returns their sizes.
    private static func read(_ download: CurlDownload) -> Task<[Int], any Error> {
        Task {
            var sizes: [Int] = []
            while let chunk = try await download.next() { sizes.append(chunk.count) }
            return sizes
        }
    }

    private static func reader(of download: CurlDownload) async {
        while !download.hasReader { await Task.yield() }
    }

    private static func offer(_ download: CurlDownload, times: Int = 1) -> [CurlDownload.Offer] {
        (0..<times).map { _ in piece.withUnsafeBytes { download.offer($0) } }
    }

    private static func accepted(_ times: Int) -> [CurlDownload.Offer] { Array(repeating: .accepted, count: times) }

    /// A loop iteration that delivers a long piece, for which the waiting reader is woken at once.
    private static func begin(toFlow download: CurlDownload) async throws {
        #expect(offer(download) == [.awaited])
        try #require(download.deliverUnlessMoreComes())
        await reader(of: download)
    }

    @Test func aReaderIsNotWokenWhileMoreComes() async throws {
        let download = Self.download()
        let reading = Self.read(download)
        await Self.reader(of: download)
        try await Self.begin(toFlow: download)
        #expect(Self.offer(download, times: 2) == [.awaited, .accepted])
        #expect(!download.deliverUnlessMoreComes())
        #expect(download.hasReader)
        // A loop iteration that brings no bytes.
        #expect(download.deliverUnlessMoreComes())
        await Self.reader(of: download)
        download.end(.success(()))
        #expect(try await reading.value == [16 << 10, 32 << 10])
    }

    @Test func aShortPieceIsDeliveredAtTheEndOfItsTurn() async throws {
        let download = Self.download()
        let reading = Self.read(download)
        await Self.reader(of: download)
        #expect(Data("event".utf8).withUnsafeBytes { download.offer($0) } == .awaited)
        #expect(download.deliverUnlessMoreComes())
        await Self.reader(of: download)
        download.end(.success(()))
        #expect(try await reading.value == [5])
    }

    // If nothing follows a long message, its reader must not wait for more each time.
    @Test func ofAThousandLongMessagesThatNothingFollowsFewWait() async throws {
        let download = Self.download()
        let reading = Self.read(download)
        var waits = 0
        for _ in 0..<1000 {
            await Self.reader(of: download)
            _ = Self.offer(download)
            if !download.deliverUnlessMoreComes() {
                waits += 1
                #expect(download.deliverUnlessMoreComes())
            }
        }
        await Self.reader(of: download)
        #expect((1...10).contains(waits))
        download.end(.success(()))
        #expect(try await reading.value.count == 1000)
    }

    @Test func aFlowThatBeginsAgainIsWaitedForAgain() {
        var coalescer = WakeupCoalescer()
        func holds(_ bytes: Int) -> Bool { coalescer.expectsMore(afterIterationOf: bytes) }
        for turns in [1, 2, 4] {
            for _ in 0..<turns { #expect(!holds(1 << 14)) }
            #expect(holds(1 << 14))
            #expect(!holds(0))
        }
        for _ in 0..<8 { #expect(!holds(1 << 16)) }
        #expect(!holds(100))
        #expect(holds(1 << 16))
        coalescer.wasRewarded()
        #expect(holds(1 << 16))
        coalescer.wasRewarded()
        #expect(!holds(0))
        #expect([holds(1 << 14), holds(1 << 14), holds(1 << 14)] == [false, true, true])
    }

    // If the reader were listed twice, the second check after an iteration would deliver bytes that should be held
    // back.
    @Test func theLoopIsToldOnceOfAReaderWhoWaitsAgain() async throws {
        let download = Self.download()
        let reading = Self.read(download)
        await Self.reader(of: download)
        try await Self.begin(toFlow: download)
        #expect(Self.offer(download, times: 8) == [.awaited] + Self.accepted(7))
        // The queue held many bytes, and the reader has taken them within the iteration.
        await Self.reader(of: download)
        #expect(Self.offer(download) == [.accepted])
        #expect(!download.deliverUnlessMoreComes())
        #expect(download.deliverUnlessMoreComes())
        await Self.reader(of: download)
        #expect(Self.offer(download) == [.awaited])
        download.end(.success(()))
        #expect(try await reading.value.reduce(0, +) == 11 * Self.piece.count)
    }

    @Test func aReaderWhoKeepsUpIsBroughtMoreAndMoreUpToALimit() async throws {
        let download = Self.download()
        let reading = Self.read(download)
        for kilobytes in [128, 256, 512, 512] {
            await Self.reader(of: download)
            _ = Self.offer(download, times: kilobytes / 16 - 1)
            #expect(download.hasReader)
            _ = Self.offer(download)
        }
        await Self.reader(of: download)
        download.end(.success(()))
        #expect(try await reading.value.reduce(0, +) == 1408 << 10)
    }

    @Test func aReaderWhoFallsBehindPausesItAndIsBroughtLittleAtFirst() async throws {
        let drained = Atomic(0)
        let download = CurlDownload(pool: BlockPool()) {
            drained.add(1, ordering: .relaxed)
        } onAbandoned: {
        } onReleased: {
        }
        #expect(Self.offer(download, times: 17) == Self.accepted(16) + [.full])
        let reading = Self.read(download)
        await Self.reader(of: download)
        #expect(drained.load(ordering: .relaxed) == 1)
        _ = Self.offer(download, times: 8)
        await Self.reader(of: download)
        // The reader keeps up now, so it gets twice as much at once.
        _ = Self.offer(download, times: 15)
        #expect(download.hasReader)
        _ = Self.offer(download)
        await Self.reader(of: download)
        download.end(.success(()))
        #expect(try await reading.value.reduce(0, +) == 40 * Self.piece.count)
    }
}

#endif
