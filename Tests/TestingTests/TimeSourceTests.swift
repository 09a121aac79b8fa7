import Foundation
import InterceptorsCore
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct TimeSourceTests {
    @Test func manualTimeMovesTheWallClockWithTheClock() {
        let clock = ManualClock()
        let start = Date(timeIntervalSince1970: 1_000)
        let time = TimeSource.manual(clock, startingAt: start)
        #expect(time.now() == start)
        clock.advance(by: .milliseconds(2_500))
        #expect(time.now() == start.addingTimeInterval(2.5))
        #expect(TimeSource.manual(ManualClock()).now() == Date(timeIntervalSince1970: 1_767_225_600))
    }

    @Test func manualTimeBelongsToItsClock() async throws {
        let clock = ManualClock()
        let time = TimeSource.manual(clock)
        let sleeper = Task { try await time.clock.sleep(for: .seconds(5)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        try await sleeper.value
    }

    @Test func manualTimeHasTheSameRandomNumbersEachTime() {
        let numbers = [0, 0, 1].map { TimeSource.manual(ManualClock(), seed: $0).random.next() }
        #expect(numbers[0] == numbers[1])
        #expect(numbers[0] != numbers[2])
    }

    @Test func partThatIsNotReplacedIsTheSystems() {
        #expect(TimeSource(now: { .distantPast }).clock is ContinuousClock)
        #expect(TimeSource(clock: SuspendingClock()).now().timeIntervalSinceNow < 1)
        #expect(TimeSource.system.clock is ContinuousClock)
    }

    @Test func measuredTimeIsThatOfTheClock() {
        let clock = ManualClock()
        clock.advance(by: .seconds(7))
        let elapsed = TimeSource.manual(clock).startMeasuring()
        #expect(elapsed() == .zero)
        clock.advance(by: .seconds(5))
        #expect(elapsed() == .seconds(5))
    }
}
