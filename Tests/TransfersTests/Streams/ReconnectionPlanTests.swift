import Foundation
import InterceptorsCore
import InterceptorsTransport
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct ReconnectionPlanTests {
    private struct Lost: Error {}

    private let failed = ReconnectionPlan.End.failed(Lost(), wait: .zero)

    private func broken(after lifetime: Duration, hasContent: Bool = false) -> ReconnectionPlan.End {
        .broken(Lost(), lifetime: lifetime, hasContent: hasContent)
    }

    /// The waits with the smallest and the largest random number.
    private func range(_ plan: ReconnectionPlan, after end: ReconnectionPlan.End) throws -> ClosedRange<Duration> {
        var (low, high) = (plan, plan)
        return try low.wait(
            after: end,
            random: RandomSource { 0 }
        )...high.wait(after: end, random: RandomSource { .max })
    }

    private func isClose(_ range: ClosedRange<Duration>, _ expected: ClosedRange<Double>) -> Bool {
        abs(range.lowerBound / .seconds(1) - expected.lowerBound) < 0.001
            && abs(range.upperBound / .seconds(1) - expected.upperBound) < 0.001
    }

    @Test func theUpperEndDoublesWithEachFailureUpToTheMaximum() throws {
        var plan = ReconnectionPlan(Reconnection(maxWait: .seconds(50), maxFailures: 100))
        #expect(isClose(try range(plan, after: .ended), 3...6))
        for upperEnd in [12.0, 24, 48, 50, 50] {
            #expect(isClose(try range(plan, after: failed), 3...upperEnd))
            _ = try plan.wait(after: failed, random: .system)
        }
        #expect(isClose(try range(plan, after: .ended), 3...6))
        #expect(isClose(try range(plan, after: broken(after: .seconds(3))), 3...6))
        #expect(isClose(try range(plan, after: broken(after: .zero, hasContent: true)), 3...6))
    }

    @Test func connectionsThatBreakAtOnceDoubleTheUpperEndAndAreNoFailures() throws {
        var plan = ReconnectionPlan(Reconnection(maxWait: .seconds(50), maxFailures: 1))
        for upperEnd in [12.0, 24, 48, 50, 50] {
            #expect(isClose(try range(plan, after: broken(after: .seconds(2.9))), 3...upperEnd))
            _ = try plan.wait(after: broken(after: .seconds(2.9)), random: .system)
        }
        #expect(isClose(try range(plan, after: broken(after: .seconds(3))), 3...6))
    }

    @Test func noWaitIsShorterThanTheRefusalAsks() throws {
        let plan = ReconnectionPlan(Reconnection(maxWait: .seconds(50)))
        #expect(isClose(try range(plan, after: .failed(Lost(), wait: .seconds(1))), 3...12))
        #expect(isClose(try range(plan, after: .failed(Lost(), wait: .seconds(30))), 30...50))
        #expect(isClose(try range(plan, after: .failed(Lost(), wait: .seconds(90))), 90...90))
        let endless = try range(plan, after: .failed(Lost(), wait: .seconds(Int64.max)))
        #expect(endless.upperBound == Stopwatch.farthest)
    }

    @Test func theServersTimeReplacesTheClients() throws {
        var plan = ReconnectionPlan(Reconnection())
        plan.retry = .seconds(10)
        #expect(isClose(try range(plan, after: .ended), 10...20))
        #expect(isClose(try range(plan, after: failed), 10...40))
    }

    @Test func noTimeOfTheServerStopsTheClientOrCausesABusyLoop() throws {
        var plan = ReconnectionPlan(Reconnection())
        plan.retry = .seconds(1_000_000_000)
        #expect(isClose(try range(plan, after: .ended), 300...300))
        plan.retry = .zero
        #expect(isClose(try range(plan, after: .ended), 0.1...0.2))
        #expect(isClose(try range(plan, after: failed), 0.1...4))
    }

    @Test func oneConsecutiveFailureTooManyIsThrown() throws {
        var plan = ReconnectionPlan(Reconnection(maxFailures: 3))
        for connected in [.ended, broken(after: .zero)] {
            for _ in 0..<2 { _ = try plan.wait(after: failed, random: .system) }
            // A connection starts the count again.
            _ = try plan.wait(after: connected, random: .system)
        }
        for _ in 0..<2 { _ = try plan.wait(after: failed, random: .system) }
        #expect(throws: Lost.self) { try plan.wait(after: failed, random: .system) }
    }

    @Test func extremeSettingsDoNotTrap() throws {
        for wait in [Duration.seconds(-1), .zero, .seconds(Int64.max)] {
            for maxWait in [Duration.seconds(-1), .zero, .seconds(Int64.max)] {
                var plan = ReconnectionPlan(Reconnection(wait: wait, maxWait: maxWait, maxFailures: .max))
                for _ in 0..<100 { #expect(try plan.wait(after: failed, random: .system) > .zero) }
            }
        }
    }
}
