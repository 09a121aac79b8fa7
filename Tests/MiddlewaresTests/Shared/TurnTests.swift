import Testing
import TransportTesting

@testable import Middlewares

@Suite(.againstHanging)
struct TurnTests {
    @Test func whatIsToldBeforeTheWaitIsNotLost() async {
        let turn = Turn<Int>()
        turn.tell(1)
        turn.tell(2)
        #expect(await turn.outcome(before: nil) { _ in } == 1)
    }

    @Test func cancellationAndTellingRaceAndOneOfThemCounts() async {
        for _ in 0..<200 {
            let turn = Turn<String>()
            let task = Task { await turn.outcome(before: nil) { _ in turn.tell("gave up") } }
            async let telling: Void = turn.tell("told")
            task.cancel()
            await telling
            #expect(["told", "gave up"].contains(await task.value))
        }
    }

    @Test func waitEndsAtTheDeadlineAndItsTimerEndsWithTheWait() async {
        let clock = ManualClock()
        let deadline = Deadline(after: .seconds(5), clock: clock)
        let turn = Turn<GivingUp?>()
        let late = Task { await turn.outcome(before: deadline) { turn.tell($0) } }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await late.value == .timeIsUp)

        let other = Turn<GivingUp?>()
        let inTime = Task { await other.outcome(before: Deadline(after: .seconds(5), clock: clock)) { other.tell($0) } }
        await clock.sleepers(1)
        other.tell(nil)
        #expect(await inTime.value == nil)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func enforcedDeadlineNeedsNoTimerOfItsOwn() async {
        let clock = ManualClock()
        var deadline = Deadline(after: .seconds(5), clock: clock)
        deadline.isEnforced = true
        let turn = Turn<GivingUp?>()
        let task = Task { [deadline] in await turn.outcome(before: deadline) { turn.tell($0) } }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(clock.pendingSleeps == 0)
    }
}
