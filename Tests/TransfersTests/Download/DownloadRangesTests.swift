import InterceptorsCore
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransfers

/// Each missing byte belongs to one worker or to none, whatever the workers do.
@Suite(.againstHanging) struct DownloadRangesTests {
    @Test func theMissingBytesAreDividedEvenly() {
        for workers in 1...8 {
            var ranges = DownloadRanges(missing: [0..<1_000], workers: workers, smallest: 1)
            let shares = (0..<workers).compactMap { ranges.assign(to: $0)?.count }
            #expect(shares.count == workers && shares.reduce(0, +) == 1_000)
            #expect(shares.allSatisfy { abs($0 - 1_000 / workers) <= 1 }, "\(shares)")
            #expect(ranges.unassigned.isEmpty)
        }
    }

    @Test func noShareIsSmallerThanARequestIsWorth() {
        for total in 1...50 as ClosedRange<Int64> {
            var ranges = DownloadRanges(missing: [0..<total], workers: 8, smallest: 10)
            let shares = (0..<8).compactMap { ranges.assign(to: $0)?.count }
            #expect(shares.reduce(0, +) == Int(total))
            #expect(shares.count == 1 || shares.allSatisfy { $0 >= 10 }, "\(shares)")
        }
    }

    @Test func aWorkerWithoutAGapTakesHalfOfTheLongestRest() {
        var ranges = DownloadRanges(missing: [0..<100], workers: 2, smallest: 10)
        let first = [ranges.assign(to: 0), ranges.assign(to: 1)]
        #expect(first == [0..<50, 50..<100])
        ranges.advance(0, by: 50)
        ranges.advance(1, by: 20)
        let second = ranges.assign(to: 0)
        #expect(second == nil, "the worker still has a range")
        ranges.release(0)
        let half = ranges.assign(to: 0)
        #expect(half == 85..<100)
        #expect(ranges.rest(of: 1) == 70..<85)
        ranges.release(0)
        ranges.advance(1, by: 15)
        let isExtended = ranges.extend(1, upTo: 90)
        #expect(isExtended, "the worker reads on into a range that was given back")
        #expect(ranges.rest(of: 1) == 85..<90)
        #expect(ranges.unassigned == [90..<100])
    }

    @Test func aRestThatIsNotWorthTwoRequestsIsNotDivided() {
        var ranges = DownloadRanges(missing: [0..<19], workers: 2, smallest: 10)
        let assigned = [ranges.assign(to: 0), ranges.assign(to: 1)]
        #expect(assigned == [0..<19, nil])
    }

    @Test(arguments: 0..<300 as Range<UInt64>) func everyPlayEndsWithEachByteWrittenOnce(seed: UInt64) {
        var play = Play(seed: seed)
        var steps = 0
        while play.written.count < play.missing.count, steps < 5_000 {
            play.step()
            play.check("seed \(seed), step \(steps)")
            steps += 1
        }
        #expect(play.written == play.missing, "seed \(seed)")
    }
}

/// Workers that take, write, extend and give back ranges by chance, beside a model in single bytes.
private struct Play {
    let missing: Set<Int64>
    private(set) var written: Set<Int64> = []
    private var ranges: DownloadRanges
    private var random: SeededGenerator
    private let workers: Int
    private let holes: Int

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var held = ByteSet()
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let start = Int64.random(in: 0..<200, using: &random)
            held.insert(start..<start + Int64.random(in: 1...20, using: &random))
        }
        let gaps = held.gaps(upTo: 300)
        missing = Set(gaps.flatMap(Array.init))
        holes = gaps.count
        workers = Int.random(in: 1...8, using: &random)
        ranges = DownloadRanges(missing: gaps, workers: workers, smallest: Int64.random(in: 1...30, using: &random))
    }

    mutating func step() {
        let worker = Int.random(in: 0..<workers, using: &random)
        guard let rest = ranges.rest(of: worker) else {
            let range = ranges.assign(to: worker)
            #expect(range?.isEmpty != true)
            return
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: ranges.release(worker)
        case 1 where rest.isEmpty:
            if !ranges.extend(worker, upTo: Int64.random(in: 0...300, using: &random)) { ranges.release(worker) }
        case _ where rest.isEmpty: ranges.release(worker)
        default:
            let count = Int64.random(in: 1...Int64(rest.count), using: &random)
            let bytes = Set(rest.prefix(Int(count)))
            #expect(written.isDisjoint(with: bytes), "no byte is written twice")
            written.formUnion(bytes)
            ranges.advance(worker, by: count)
        }
    }

    func check(_ label: String) {
        let rests = ranges.assigned.map(\.rest)
        let all = (ranges.unassigned + rests).flatMap(Array.init)
        #expect(all.count == Set(all).count, "\(label): no byte belongs to two workers")
        #expect(Set(all) == missing.subtracting(written), "\(label)")
        #expect(zip(ranges.unassigned, ranges.unassigned.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        #expect(ranges.unassigned.count + rests.filter { !$0.isEmpty }.count <= max(holes, DownloadRanges.holeLimit))
    }
}
