import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

// Waits, time limits and cancellation.
@Suite(.againstHanging) struct FaultWaitTests {
    private let bench = FaultBench()
    private var clock: ManualClock { bench.clock }

    @Test func latencyWaitsOnTheClockAndCancellationEndsIt() async throws {
        let task = Task { try await bench.send(.latency(.seconds(3)), .latency(.seconds(2)), .status(503)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(4))
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .seconds(1))
        #expect(try await task.value.status == 503)

        let cancelled = Task { try await bench.send(.latency(.seconds(3))) }
        await clock.sleepers(1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(bench.recorder.requests.isEmpty)
    }

    @Test func latencyIsChargedToTheWholeCallsLimit() async throws {
        let limits = Timeouts(idle: .seconds(60), total: .seconds(5))
        let task = Task { try await bench.send(.latency(.seconds(2))) { $0.context.timeouts = limits } }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        #expect(try await task.value.status == 200)
        #expect(bench.recorder.requests.map(\.context.timeouts) == [Timeouts(idle: .seconds(60), total: .seconds(3))])
    }

    @Test func timeSpentBeforeTheFaultsCountsTowardsTheWholeCallsLimit() async throws {
        var limits = Timeouts(total: .seconds(5))
        limits.spent = .seconds(4)
        let timeouts = limits
        let task = Task { try await bench.send(.latency(.seconds(2))) { $0.context.timeouts = timeouts } }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        await #expect {
            try await task.value
        } throws: {
            ($0 as? TransportError)?.code == .timedOut
        }
    }

    @Test func withoutLimitsALatencyHasNone() async throws {
        let task = Task { try await bench.send(.latency(.seconds(100))) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(99))
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .seconds(1))
        #expect(try await task.value.status == 200)
        #expect(bench.recorder.requests.map(\.context.timeouts) == [nil])
    }

    @Test(arguments: [
        (Timeouts(idle: nil, total: .seconds(5)), "5.0 seconds (timeouts.total)"),
        (Timeouts(idle: .seconds(5), total: .seconds(9)), "5.0 seconds (timeouts.idle)"),
    ])
    func latencyBeyondATimeLimitFailsAtTheLimit(limits: Timeouts, text: String) async throws {
        let task = Task { try await bench.error([.latency(.seconds(100))]) { $0.context.timeouts = limits } }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        let error = try #require(try await task.value)
        #expect(error.code == .timedOut)
        #expect(error.message.contains(text))
        #expect(bench.recorder.requests.isEmpty)
    }

    @Test(arguments: [nil, Duration.seconds(7)])
    func aTimeoutFailsAtTheRequestsLimit(limit: Duration?) async throws {
        let task = Task {
            try await bench.code(.timeout) { if let limit { $0.context.timeouts = Timeouts(idle: limit) } }
        }
        await clock.sleepers(1)
        clock.advance(by: (limit ?? .seconds(60)) - .milliseconds(1))
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await task.value == .timedOut)
        #expect(bench.recorder.requests.count == 1)
    }

    @Test func aTimeoutAfterALatencyFailsAtTheWholeCallsLimit() async throws {
        let limits = Timeouts(idle: .seconds(60), total: .seconds(5))
        let task = Task { try await bench.error([.latency(.seconds(2)), .timeout]) { $0.context.timeouts = limits } }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        #expect(try #require(try await task.value).message.contains("5.0 seconds (timeouts.total)"))
    }
}
