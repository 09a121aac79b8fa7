import Dispatch
import InterceptorsTesting
import Synchronization
import Testing

@Suite(.againstHanging) struct ManualClockTests {
    @Test func standsStillUntilItIsAdvanced() {
        let clock = ManualClock()
        #expect(clock.now == .init())
        #expect(clock.now == clock.now)
        clock.advance(by: .milliseconds(1500))
        #expect(clock.now.elapsed == .milliseconds(1500))
        clock.advance(to: .init(elapsed: .seconds(2)))
        #expect(clock.now.elapsed == .seconds(2))
        #expect("\(clock.now)" == "2.0 seconds")
    }

    @Test func neverGoesBack() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        clock.advance(to: .init(elapsed: .seconds(3)))
        clock.advance(by: .seconds(-1))
        clock.advance(by: .zero)
        #expect(clock.now.elapsed == .seconds(5))
    }

    @Test func aDeadlineInThePastIsNoSleep() async throws {
        let clock = ManualClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(for: .seconds(-1))
        try await clock.sleep(until: clock.now)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func wakesAtTheDeadlineAndNotBefore() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(2)) }
        await clock.sleepers(1)
        #expect(clock.nextDeadline?.elapsed == .seconds(2))
        clock.advance(by: .nanoseconds(1_999_999_999))
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(clock.pendingSleeps == 0)
        #expect(clock.nextDeadline == nil)
        try await sleeper.value
    }

    @Test func thoseWithTheEarliestDeadlineAreWokenFirst() async throws {
        let clock = ManualClock()
        let sleepers = [3, 1, 2, 1].map { seconds in Task { try await clock.sleep(for: .seconds(seconds)) } }
        await clock.sleepers(4)
        for (seconds, left) in [(1, 2), (2, 1), (3, 0)] {
            let deadline = try #require(clock.nextDeadline)
            #expect(deadline.elapsed == .seconds(seconds))
            clock.advance(to: deadline)
            #expect(clock.pendingSleeps == left)
        }
        for sleeper in sleepers { try await sleeper.value }
    }

    /// Runs jobs one after another, in the order in which they become ready.
    private final class Line: TaskExecutor {
        private let queue = DispatchQueue(label: "ManualClockTests")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }

        /// Waits until every task has suspended. A task that is woken before it has suspended goes on without a place in the line.
        func haveSuspended() async {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
    }

    private final class Woken: Sendable {
        let numbers = Mutex<[Int]>([])
    }

    @Test func oneAdvanceWakesByDeadlineAndThoseOfOneDeadlineInTheOrderInWhichTheyBeganToSleep() async throws {
        let (clock, line, woken) = (ManualClock(), Line(), Woken())
        let seconds = [3, 1, 2, 1, 3, 2, 1, 4, 2, 1, 1, 1, 1, 1, 1, 1]
        try await withThrowingTaskGroup { group in
            for (number, seconds) in seconds.enumerated() {
                group.addTask(executorPreference: line) {
                    try await clock.sleep(for: .seconds(seconds))
                    woken.numbers.withLock { $0.append(number) }
                }
                await clock.sleepers(number + 1)
            }
            await line.haveSuspended()
            clock.advance(by: .seconds(10))
            try await group.waitForAll()
        }
        let expected = seconds.indices.sorted { (seconds[$0], $0) < (seconds[$1], $1) }
        let order = woken.numbers.withLock { $0 }
        #expect(order == expected)
    }

    @Test func whoIsWokenFindsTheClockAtItsNewTime() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            try await clock.sleep(for: .seconds(1))
            let woken = clock.now
            try await clock.sleep(for: .seconds(1))
            return (woken.elapsed, clock.now.elapsed)
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(10))
        await clock.sleepers(1)
        #expect(clock.nextDeadline?.elapsed == .seconds(11))
        clock.advance(by: .seconds(1))
        #expect(try await sleeper.value == (.seconds(10), .seconds(11)))
    }

    @Test func aCancelledSleepEndsAtOnce() async {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.sleepers(1)
        sleeper.cancel()
        await clock.noSleepers()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.now.elapsed == .zero)
    }

    @Test func aTaskThatIsCancelledAlreadyDoesNotBeginToSleep() async {
        let clock = ManualClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.pendingSleeps == 0)
    }

    @Test func cancellationAndAdvanceMayMeet() async {
        for _ in 0..<200 {
            let clock = ManualClock()
            let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
            await clock.sleepers(1)
            async let advanced: Void = clock.advance(by: .seconds(1))
            async let cancelled: Void = sleeper.cancel()
            _ = await (advanced, cancelled)
            // Either of the two may come first; the sleep ends once.
            if case .failure(let error) = await sleeper.result { #expect(error is CancellationError) }
            #expect(clock.pendingSleeps == 0)
        }
    }

    @Test func hundredsMaySleepAndBeCancelledAtOnce() async {
        let clock = ManualClock()
        await withTaskGroup { group in
            for number in 0..<500 {
                group.addTask {
                    let deadline = ManualClock.Instant(elapsed: .seconds(1 + number % 3))
                    let sleeper = Task { try await clock.sleep(until: deadline) }
                    if number.isMultiple(of: 2) { sleeper.cancel() }
                    switch await sleeper.result {
                    case .success: #expect(clock.now >= deadline)
                    case .failure(let error): #expect(error is CancellationError && number.isMultiple(of: 2))
                    }
                }
            }
            await clock.sleepers(100)
            for _ in 0..<30 { clock.advance(by: .milliseconds(100)) }
        }
        #expect(clock.pendingSleeps == 0)
    }

    @Test func noAdvanceIsLostAmongMany() async {
        let clock = ManualClock()
        await withTaskGroup { group in
            for _ in 0..<500 { group.addTask { clock.advance(by: .seconds(1)) } }
        }
        #expect(clock.now.elapsed == .seconds(500))
    }

    @Test func sleepersAreAwaitedUntilThereAreEnough() async throws {
        let clock = ManualClock()
        let waiting = Task { await clock.sleepers(3) }
        let sleepers = (0..<3).map { _ in Task { try await clock.sleep(for: .seconds(1)) } }
        await waiting.value
        #expect(clock.pendingSleeps == 3)
        await clock.sleepers(2)
        await clock.sleepers(0)
        let emptied = Task { await clock.noSleepers() }
        clock.advance(by: .seconds(1))
        await emptied.value
        for sleeper in sleepers { try await sleeper.value }
        await clock.noSleepers()
    }

    @Test func aWaitForSleepersEndsWithItsTask() async {
        let clock = ManualClock()
        let waits = (0..<100).map { _ in Task { await clock.sleepers(1) } }
        for wait in waits { wait.cancel() }
        for wait in waits { await wait.value }
    }

    @Test func veryLongSleepsDoNotOverflow() async {
        let clock = ManualClock()
        clock.advance(by: .seconds(Int64.max))
        let sleeper = Task { try await clock.sleep(for: .seconds(Int64.max)) }
        await clock.sleepers(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func itIsAnyClockOfDurations() async throws {
        let manual = ManualClock()
        let clock: any Clock<Duration> = manual
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        await manual.sleepers(1)
        manual.advance(by: .seconds(1))
        try await sleeper.value
        #expect(manual.measure { manual.advance(by: .seconds(2)) } == .seconds(2))
    }
}
