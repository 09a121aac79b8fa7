import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging)
struct WaiterTests {
    @Test func whatIsToldBeforeTheWaitIsNotLost() async {
        let waiter = Waiter<Int>()
        waiter.resume(with: 1)
        waiter.resume(with: 2)
        #expect(await waiter.outcome(before: nil) { _ in } == 1)
    }

    @Test func cancellationAndTellingRaceAndOneOfThemCounts() async {
        for _ in 0..<200 {
            let waiter = Waiter<String>()
            let task = Task { await waiter.outcome(before: nil) { _ in waiter.resume(with: "gave up") } }
            async let telling: Void = waiter.resume(with: "told")
            task.cancel()
            await telling
            #expect(["told", "gave up"].contains(await task.value))
        }
    }

    @Test func waitEndsAtTheDeadlineAndItsTimerEndsWithTheWait() async {
        let clock = ManualClock()
        let deadline = Deadline(after: .seconds(5), time: .manual(clock))
        let waiter = Waiter<WaitAbandonment?>()
        let late = Task { await waiter.outcome(before: deadline) { waiter.resume(with: $0) } }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await late.value == .timeIsUp)

        let other = Waiter<WaitAbandonment?>()
        let inTime = Task {
            await other.outcome(before: Deadline(after: .seconds(5), time: .manual(clock))) { other.resume(with: $0) }
        }
        await clock.sleepers(1)
        other.resume(with: nil)
        #expect(await inTime.value == nil)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func enforcedDeadlineNeedsNoTimerOfItsOwn() async {
        let clock = ManualClock()
        var deadline = Deadline(after: .seconds(5), time: .manual(clock))
        deadline.isEnforced = true
        let waiter = Waiter<WaitAbandonment?>()
        let task = Task { [deadline] in await waiter.outcome(before: deadline) { waiter.resume(with: $0) } }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(clock.pendingSleeps == 0)
    }
}
