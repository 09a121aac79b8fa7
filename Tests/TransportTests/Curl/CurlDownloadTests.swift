#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransport

private let piece = Data(repeating: 5, count: 16 << 10)

private func accepted(_ times: Int) -> [CurlDownload.Offer] { Array(repeating: .accepted, count: times) }

/// A download and its reader, which runs only in `settle()`.
private struct Flow {
    private let download: CurlDownload
    private let queue: JobQueue
    private let outcome = Shared<Result<[Int], any Error>?>(nil)

    init(onDrained: @escaping @Sendable () -> Void = {}) throws {
        download = CurlDownload(pool: BlockPool(), onDrained: onDrained, onAbandoned: {}, onReleased: {})
        queue = try JobQueue(seed: 0)
    }

    /// Starts a reader that reads until the end.
    func read() {
        queue.enter {
            _ = Task { [download, outcome] in
                do {
                    var sizes: [Int] = []
                    while let chunk = try await download.next() { sizes.append(chunk.count) }
                    outcome.value = .success(sizes)
                } catch {
                    outcome.value = .failure(error)
                }
            }
        }
        settle()
    }

    /// Lets the reader run until it waits.
    func settle() {
        queue.runAll()
        #expect(hasReader)
    }

    /// Whether the reader waits for bytes. A reader that was woken waits again only after `settle()`.
    var hasReader: Bool { download.hasReader }

    func offer(times: Int = 1) -> [CurlDownload.Offer] { (0..<times).map { _ in offer(piece) } }

    func offer(_ bytes: Data) -> CurlDownload.Offer { queue.enter { bytes.withUnsafeBytes { download.offer($0) } } }

    func deliverUnlessMoreComes() -> Bool { queue.enter { download.deliverUnlessMoreComes() } }

    /// A loop iteration that delivers a long piece, for which the waiting reader is woken at once.
    func begin() throws {
        #expect(offer() == [.awaited])
        try #require(deliverUnlessMoreComes())
        settle()
    }

    /// Ends the download, and returns the sizes of the chunks that the reader got.
    func end() throws -> [Int] {
        queue.enter { download.end(.success(())) }
        queue.runAll()
        return try #require(outcome.value).get()
    }
}

@Suite(.againstHanging) struct CurlDownloadTests {
    @Test func aReaderIsNotWokenWhileMoreComes() throws {
        let flow = try Flow()
        flow.read()
        try flow.begin()
        #expect(flow.offer(times: 2) == [.awaited, .accepted])
        #expect(!flow.deliverUnlessMoreComes())
        #expect(flow.hasReader)
        // A loop iteration that brings no bytes.
        #expect(flow.deliverUnlessMoreComes())
        flow.settle()
        #expect(try flow.end() == [16 << 10, 32 << 10])
    }

    @Test func aShortPieceIsDeliveredAtTheEndOfItsTurn() throws {
        let flow = try Flow()
        flow.read()
        #expect(flow.offer(Data("event".utf8)) == .awaited)
        #expect(flow.deliverUnlessMoreComes())
        flow.settle()
        #expect(try flow.end() == [5])
    }

    // If nothing follows a long message, its reader must not wait for more each time.
    @Test func ofAThousandLongMessagesThatNothingFollowsFewWait() throws {
        let flow = try Flow()
        flow.read()
        var waits = 0
        for _ in 0..<1000 {
            flow.settle()
            _ = flow.offer()
            if !flow.deliverUnlessMoreComes() {
                waits += 1
                #expect(flow.deliverUnlessMoreComes())
            }
        }
        flow.settle()
        #expect((1...10).contains(waits))
        #expect(try flow.end().count == 1000)
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
    @Test func theLoopIsToldOnceOfAReaderWhoWaitsAgain() throws {
        let flow = try Flow()
        flow.read()
        try flow.begin()
        #expect(flow.offer(times: 8) == [.awaited] + accepted(7))
        // The queue held many bytes, and the reader has taken them within the iteration.
        flow.settle()
        #expect(flow.offer() == [.accepted])
        #expect(!flow.deliverUnlessMoreComes())
        #expect(flow.deliverUnlessMoreComes())
        flow.settle()
        #expect(flow.offer() == [.awaited])
        #expect(try flow.end().reduce(0, +) == 11 * piece.count)
    }

    @Test func aReaderWhoKeepsUpIsBroughtMoreAndMoreUpToALimit() throws {
        let flow = try Flow()
        flow.read()
        for kilobytes in [128, 256, 512, 512] {
            flow.settle()
            _ = flow.offer(times: kilobytes / 16 - 1)
            #expect(flow.hasReader)
            _ = flow.offer()
        }
        flow.settle()
        #expect(try flow.end().reduce(0, +) == 1408 << 10)
    }

    @Test func aReaderWhoFallsBehindPausesItAndIsBroughtLittleAtFirst() throws {
        let drained = Atomic(0)
        let flow = try Flow { drained.add(1, ordering: .relaxed) }
        #expect(flow.offer(times: 17) == accepted(16) + [.full])
        flow.read()
        #expect(drained.load(ordering: .relaxed) == 1)
        _ = flow.offer(times: 8)
        flow.settle()
        // The reader keeps up now, so it gets twice as much at once.
        _ = flow.offer(times: 15)
        #expect(flow.hasReader)
        _ = flow.offer()
        flow.settle()
        #expect(try flow.end().reduce(0, +) == 40 * piece.count)
    }
}

#endif
