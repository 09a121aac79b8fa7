import InterceptorsCore
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct ByteSetTests {
    private static func range(_ random: inout SeededGenerator) -> Range<Int64> {
        let start = Int64.random(in: 0...30, using: &random)
        return start..<Int64.random(in: start...min(31, start + 9), using: &random)
    }

    /// Whether the set is exactly these bytes, in ranges that touch nowhere.
    private static func expect(_ set: ByteSet, _ model: Set<Int64>, _ label: String) {
        let ranges = [0..<set.prefix] + set.later
        #expect(Set(ranges.flatMap(Array.init)) == model, "\(label)")
        #expect(set.count == Int64(model.count), "\(label)")
        #expect(set.end == (model.max() ?? -1) + 1, "\(label)")
        #expect(zip(ranges, set.later).allSatisfy { $0.upperBound < $1.lowerBound }, "\(label)")
        #expect(set.later.allSatisfy { !$0.isEmpty }, "\(label)")
        for total in [0, 7, 31, 40] as [Int64] {
            let gaps = set.gaps(upTo: total)
            #expect(Set(gaps.flatMap(Array.init)) == Set(0..<total).subtracting(model), "\(label) up to \(total)")
            #expect(gaps.allSatisfy { !$0.isEmpty }, "\(label)")
            #expect(set.firstGap(upTo: total) == gaps.first, "\(label)")
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func aSetOfBytesIsAModelOfIt(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (set, model) = (ByteSet(), Set<Int64>())
        for step in 0..<60 {
            let range = Self.range(&random)
            if Int.random(in: 0..<3, using: &random) > 0 {
                set.insert(range)
                model.formUnion(range)
            } else {
                set.remove(range)
                model.subtract(range)
            }
            Self.expect(set, model, "seed \(seed), step \(step), \(range)")
        }
    }
}
