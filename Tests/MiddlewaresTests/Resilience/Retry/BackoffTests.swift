import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct BackoffTests {
    private let longest = RandomSource { .max }
    private let middle = RandomSource { 1 << 63 }
    private let none = RandomSource { 0 }

    @Test func exponentialDoublesUpToItsCap() {
        let policy = RetryPolicy.exponential(base: .seconds(2), cap: .seconds(12))
        let waits = (1...5).map { policy.wait(after: $0, random: middle) }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(6), .seconds(6)])
    }

    @Test func fullJitterGoesFromNothingToTheLongestWait() {
        let policy = RetryPolicy.exponential(base: .seconds(1), cap: .seconds(100))
        #expect((1...3).map { policy.wait(after: $0, random: none) } == [.zero, .zero, .zero])
        let middles = (1...3).map { policy.wait(after: $0, random: middle) }
        #expect(middles == [.seconds(0.5), .seconds(1), .seconds(2)])
        #expect((1...3).allSatisfy { policy.wait(after: $0, random: longest) < .seconds(1 << ($0 - 1)) })
    }

    @Test func oneSeedGivesTheSameWaits() {
        let policy = RetryPolicy.exponential()
        let (first, second) = (RandomSource.seeded(5), RandomSource.seeded(5))
        for attempt in 1...20 {
            #expect(policy.wait(after: attempt, random: first) == policy.wait(after: attempt, random: second))
        }
    }

    @Test(arguments: [0, 1, 63, 64, 1_000, .max, .min])
    func noNumberOfAttemptsOverflows(attempt: Int) {
        let policy = RetryPolicy.exponential(base: .seconds(1), cap: .seconds(20))
        #expect((Duration.zero...Duration.seconds(20)).contains(policy.wait(after: attempt, random: longest)))
        let huge = RetryPolicy.exponential(base: .seconds(Int64.max), cap: .seconds(Int64.max))
        #expect(huge.wait(after: attempt, random: longest) <= .seconds(1_000_000_000))
        #expect(huge.wait(after: attempt, random: none) == .zero)
        let negative = RetryPolicy.exponential(base: .seconds(Int64.min))
        #expect(negative.wait(after: attempt, random: middle) == .zero)
    }

    @Test func constantIsTheSameEachTime() {
        let policy = RetryPolicy.constant(.seconds(2))
        #expect((1...3).map { policy.wait(after: $0, random: .system) } == [.seconds(2), .seconds(2), .seconds(2)])
    }

    @Test func customIsGivenTheAttemptAndChanceAndNeverGoesBackInTime() {
        let policy = RetryPolicy.custom { attempt, random in .seconds(attempt) + .seconds(random.unit()) }
        #expect(policy.wait(after: 3, random: middle) == .seconds(3.5))
        #expect(RetryPolicy.custom { _, _ in .seconds(-1) }.wait(after: 1, random: none) == .zero)
        let endless = RetryPolicy.custom { _, _ in .seconds(Int64.max) }
        #expect(endless.wait(after: 1, random: none) == .seconds(1_000_000_000))
    }
}
