import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct RandomSourceTests {
    @Test func seededGivesThePublishedSequence() {
        // The first numbers of the reference implementation for the seed 1234567.
        let source = RandomSource.seeded(1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect(expected.map { _ in source.next() } == expected)
    }

    @Test func sourcesOfOneSeedAreApartAndCopiesShareTheirSequence() {
        let first = RandomSource.seeded(7)
        let copy = first
        let second = RandomSource.seeded(7)
        #expect([first.next(), copy.next()] == [second.next(), second.next()])
    }

    @Test func unitIsNeverOne() {
        #expect(RandomSource { .max }.unit() < 1)
        #expect(RandomSource { 0 }.unit() == 0)
        #expect(RandomSource { 1 << 63 }.unit() == 0.5)
        for _ in 0..<1_000 { #expect((0..<1).contains(RandomSource.system.unit())) }
    }

    @Test func tasksThatDrawAtOnceNeverGetTheSameNumber() async {
        let source = RandomSource.seeded(1)
        let drawn = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<16 { group.addTask { (0..<200).map { _ in source.next() } } }
            return await group.reduce(into: Set<UInt64>()) { $0.formUnion($1) }
        }
        #expect(drawn.count == 16 * 200)
    }
}
