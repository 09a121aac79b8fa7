import Interceptors
import Testing

@Suite(.againstHanging) struct BackoffTests {
    private let longest = RandomSource { .max }
    private let middle = RandomSource { 1 << 63 }
    private let none = RandomSource { 0 }

    @Test func exponentialDoublesUpToItsCap() {
        let backoff = Backoff.exponential(base: .seconds(1), cap: .seconds(6), hasJitter: false)
        let waits = (1...5).map { backoff.duration(after: $0, random: .system) }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(6), .seconds(6)])
    }

    @Test func fullJitterGoesFromNothingToTheLongestWait() {
        let backoff = Backoff.exponential(base: .seconds(1), factor: 3, cap: .seconds(100))
        #expect((1...3).map { backoff.duration(after: $0, random: none) } == [.zero, .zero, .zero])
        #expect(
            (1...3).map { backoff.duration(after: $0, random: middle) } == [
                .seconds(0.5), .seconds(1.5), .seconds(4.5),
            ]
        )
        #expect((1...3).allSatisfy { backoff.duration(after: $0, random: longest) < .seconds([1, 3, 9][$0 - 1]) })
    }

    @Test func oneSeedGivesTheSameWaits() {
        let backoff = Backoff.exponential()
        let (first, second) = (RandomSource.seeded(5), RandomSource.seeded(5))
        for attempt in 1...20 {
            #expect(backoff.duration(after: attempt, random: first) == backoff.duration(after: attempt, random: second))
        }
    }

    @Test(arguments: [0, 1, 63, 64, 1_000, .max, .min])
    func noNumberOfAttemptsOverflows(attempt: Int) {
        let backoff = Backoff.exponential(base: .seconds(1), cap: .seconds(20), hasJitter: false)
        #expect((Duration.zero...Duration.seconds(20)).contains(backoff.duration(after: attempt, random: longest)))
        let huge = Backoff.exponential(base: .seconds(Int64.max), factor: .infinity, cap: .seconds(Int64.max))
        #expect(huge.duration(after: attempt, random: longest) <= .seconds(1_000_000_000))
        #expect(huge.duration(after: attempt, random: none) == .zero)
        let broken = Backoff.exponential(base: .seconds(1), factor: .nan)
        #expect(broken.duration(after: attempt, random: middle) >= .zero)
    }

    @Test func constantIsTheSameEachTime() {
        let backoff = Backoff.constant(.seconds(2))
        #expect(
            (1...3).map { backoff.duration(after: $0, random: .system) } == [.seconds(2), .seconds(2), .seconds(2)]
        )
    }

    @Test func customIsGivenTheAttemptAndChanceAndNeverGoesBackInTime() {
        let backoff = Backoff.custom { attempt, random in .seconds(attempt) + .seconds(random.unit()) }
        #expect(backoff.duration(after: 3, random: middle) == .seconds(3.5))
        #expect(Backoff.custom { _, _ in .seconds(-1) }.duration(after: 1, random: none) == .zero)
        #expect(
            Backoff.custom { _, _ in .seconds(Int64.max) }.duration(after: 1, random: none) == .seconds(1_000_000_000)
        )
    }
}
