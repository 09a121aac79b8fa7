import Interceptors
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct DeadlineTests {
    @Test func remainingTimeFollowsTheClock() {
        let clock = ManualClock()
        let deadline = Deadline(after: .seconds(5), time: .manual(clock))
        #expect(deadline.remaining == .seconds(5))
        clock.advance(by: .seconds(5))
        #expect(deadline.hasPassed)
        clock.advance(by: .seconds(1))
        #expect(deadline.remaining == .seconds(-1))
    }

    @Test func theEarlierOfTwoClocksIsTheOneWithLessTimeLeft() {
        let slow = ManualClock()
        let fast = ManualClock()
        let first = Deadline(after: .seconds(5), time: .manual(slow))
        let second = Deadline(after: .seconds(10), time: .manual(fast))
        #expect(Deadline.earlier(first, second).remaining == .seconds(5))
        fast.advance(by: .seconds(8))
        #expect(Deadline.earlier(first, second).remaining == .seconds(2))
    }

    @Test func aDeadlineThatIsFarAwayNeverOverflows() {
        #expect(!Deadline(after: .seconds(Int64.max)).hasPassed)
        #expect(!Deadline(after: .seconds(Int64.max), time: TimeSource(clock: SuspendingClock())).hasPassed)
        #expect(Deadline(after: .seconds(Int64.min), time: .manual(ManualClock())).remaining == .zero)
    }

    @Test func contextHasNoneUnlessItIsSet() {
        var context = HTTPContext()
        #expect(context.deadline == nil)
        context.deadline = Deadline(after: .seconds(1), time: .manual(ManualClock()))
        #expect(context.deadline?.remaining == .seconds(1))
    }

    @Test func sleepEndsAtTheDeadlineAndAtOnceAfterwards() async throws {
        let clock = ManualClock()
        let deadline = Deadline(after: .seconds(5), time: .manual(clock))
        let sleeping = Task { try await deadline.sleep() }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        try await sleeping.value
        try await deadline.sleep()
        #expect(deadline.hasPassed)
    }
}
