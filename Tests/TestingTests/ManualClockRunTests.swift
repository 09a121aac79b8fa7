import Foundation
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct ManualClockRunTests {
    let clock = ManualClock()

    private actor Hop {
        func pass() {}
    }

    @Test func stepsThroughConsecutiveSleepsUntilTheOperationEnds() async throws {
        let woken = try await clock.run { [clock] in
            var woken: [Duration] = []
            for seconds in [1, 60, 3600] {
                try await clock.sleep(for: .seconds(seconds))
                woken.append(clock.now.elapsed)
            }
            return woken
        }
        #expect(woken == [.seconds(1), .seconds(61), .seconds(3661)])
        #expect(clock.now.elapsed == .seconds(3661))
    }

    @Test func operationThatDoesNotSleepTakesNoTime() async throws {
        #expect(try await clock.run { 42 } == 42)
        #expect(clock.now.elapsed == .zero)
    }

    @Test func clockNeverPassesTheEndOfTheOperation() async throws {
        let other = Task { [clock] in try await clock.sleep(for: .seconds(100)) }
        await clock.sleepers(1)
        try await clock.run(sleepers: 2) { [clock] in try await clock.sleep(for: .seconds(1)) }
        #expect(clock.now.elapsed == .seconds(1))
        #expect(clock.pendingSleeps == 1)
        other.cancel()
        _ = await other.result
    }

    @Test func errorOfTheOperationIsThrown() async throws {
        await #expect(throws: Broken(place: "here")) {
            try await clock.run { [clock] in
                try await clock.sleep(for: .seconds(1))
                throw Broken(place: "here")
            }
        }
        #expect(clock.now.elapsed == .seconds(1))
    }

    @Test(arguments: 0..<20)
    func childTaskThatWorksBeforeItSleepsIsWaitedFor(round: Int) async throws {
        let order = Notes<Int>()
        try await clock.run { [clock] in
            try await withThrowingTaskGroup { group in
                for seconds in [5, 3, 4, 1, 2] {
                    group.addTask {
                        // The shorter the sleep, the more suspensions come before it.
                        let hop = Hop()
                        for _ in 0..<(6 - seconds) * 50 { await hop.pass() }
                        try await clock.sleep(for: .seconds(seconds))
                        order.add(seconds)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(order.all == [1, 2, 3, 4, 5])
        #expect(clock.now.elapsed == .seconds(5))
    }

    @Test func sleepersSayHowManyTasksAreWaitedForWhereTheClockSeesNotAll() async throws {
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let run = Task { [clock] in
            try await clock.run(sleepers: 2) {
                let unseen = Task {
                    for await _ in gate { break }
                    try await clock.sleep(for: .seconds(1))
                    return clock.now.elapsed
                }
                async let _ = clock.sleep(for: .seconds(10))
                return try await unseen.value
            }
        }
        await clock.sleepers(1)
        opening.yield()
        #expect(try await run.value == .seconds(1))
        #expect(clock.now.elapsed == .seconds(1))
    }

    @Test func workElsewhereIsWaitedForWithoutASleeper() async throws {
        let (news, feed) = AsyncStream.makeStream(of: Int.self)
        let isWaiting = AsyncStream.makeStream(of: Void.self)
        let run = Task { [clock] in
            try await clock.run {
                isWaiting.continuation.yield()
                for await number in news { return number }
                return 0
            }
        }
        for await _ in isWaiting.stream { break }
        feed.yield(7)
        #expect(try await run.value == 7)
        #expect(clock.now.elapsed == .zero)
    }

    @Test func stuckOperationFailsAtOnceIfAsked() async throws {
        let silence = AsyncStream.makeStream(of: Void.self)
        let line = #line + 2
        let run = Task { [clock] in
            try await clock.run(failingWhenStuck: true) {
                try await clock.sleep(for: .seconds(3))
                for await _ in silence.stream {}
            }
        }
        let error = await #expect(throws: ManualClock.StuckError.self) { try await run.value }
        #expect(error?.now.elapsed == .seconds(3))
        #expect(error?.deadlines == [])
        #expect(error?.description.contains("No task sleeps on the clock") == true)
        #expect(error?.description.contains("ManualClockRunTests.swift:\(line)") == true)
    }

    @Test func stuckOperationSaysWhoSleepsUntilWhen() async throws {
        let error = await #expect(throws: ManualClock.StuckError.self) {
            try await clock.run(sleepers: 3, failingWhenStuck: true) { [clock] in
                async let first: Void = clock.sleep(for: .seconds(7))
                async let second: Void = clock.sleep(for: .seconds(5))
                _ = try await (first, second)
            }
        }
        #expect(error?.deadlines.map(\.elapsed) == [.seconds(5), .seconds(7)])
        #expect(
            error?.description.contains("Tasks sleep until 5.0 seconds, 7.0 seconds; the next step needs 3 sleeping")
                == true
        )
    }

    @Test func operationThatOnlyWaitsForTheClockIsNeverStuck() async throws {
        for count in 1...50 {
            let clock = ManualClock()
            try await clock.run(failingWhenStuck: true) {
                try await withThrowingTaskGroup { group in
                    for number in 0..<count {
                        group.addTask { for _ in 0..<3 { try await clock.sleep(for: .seconds(1 + number % 4)) } }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(clock.now.elapsed == .seconds(3 * min(count, 4)))
        }
    }

    @Test func cancelledRunCancelsTheOperationAndSaysWhoSlept() async throws {
        let run = Task { [clock] in
            try await clock.run(sleepers: 2) { try await clock.sleep(for: .seconds(9)) }
        }
        await clock.sleepers(1)
        run.cancel()
        let error = await #expect(throws: ManualClock.StuckError.self) { try await run.value }
        #expect(error?.deadlines.map(\.elapsed) == [.seconds(9)])
        #expect(clock.pendingSleeps == 0)
    }

    @Test func cancelledOperationMayStillReturn() async throws {
        let run = Task { [clock] in
            try await clock.run(sleepers: 2) { (try? await clock.sleep(for: .seconds(9))) == nil }
        }
        await clock.sleepers(1)
        run.cancel()
        #expect(try await run.value)
    }

    @Test func cancellationInsideTheOperationIsThrownUnchanged() async throws {
        await #expect(throws: CancellationError.self) { try await clock.run { throw CancellationError() } }
    }

    @Test func delaysAndTimeLimitsOfAStubPassByThemselves() async throws {
        let stub = StubTransport(time: .manual(clock))
        stub.on(.get, "/slow", .text("late").delayed(by: .seconds(3600)))
        stub.on(.get, "/never", .neverAnswer)
        let url = try #require(URL(string: "https://api.example.com/slow"))
        let late = HTTPRequest(url: url)
        let response = try await clock.run(failingWhenStuck: true) { try await stub.send(late) }
        #expect(response.status == 200)
        #expect(clock.now.elapsed == .seconds(3600))
        let never = HTTPRequest(
            url: url.deletingLastPathComponent().appending(path: "never"),
            context: .with(\.timeouts, Timeouts(idle: .seconds(5)))
        )
        let error = await #expect(throws: TransportError.self) {
            try await clock.run { try await stub.send(never) }
        }
        #expect(error?.code == .timedOut)
        #expect(clock.now.elapsed == .seconds(3605))
    }

    @Test @MainActor func operationOfTheMainActorsTestRunsElsewhere() async throws {
        try await clock.run(failingWhenStuck: true) { [clock] in try await clock.sleep(for: .seconds(1)) }
        #expect(clock.now.elapsed == .seconds(1))
    }
}
