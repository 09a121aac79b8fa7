import Foundation
import Testing
import Transport

@testable import Interceptors

@Suite(.againstHanging) struct ReconnectionPlanTests {
    private struct Lost: Error {}

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
            #expect(isClose(try range(plan, after: .lost(Lost())), 3...upperEnd))
            _ = try plan.wait(after: .lost(Lost()), random: .system)
        }
        plan.noteContent()
        #expect(isClose(try range(plan, after: .ended), 3...6))
    }

    @Test func theServersTimeReplacesTheClients() throws {
        var plan = ReconnectionPlan(Reconnection())
        plan.retry = .seconds(10)
        #expect(isClose(try range(plan, after: .ended), 10...20))
        #expect(isClose(try range(plan, after: .lost(Lost())), 10...40))
    }

    @Test func noTimeOfTheServerStopsTheClientOrCausesABusyLoop() throws {
        var plan = ReconnectionPlan(Reconnection())
        plan.retry = .seconds(1_000_000_000)
        #expect(isClose(try range(plan, after: .ended), 300...300))
        plan.retry = .zero
        #expect(isClose(try range(plan, after: .ended), 0.1...0.2))
        #expect(isClose(try range(plan, after: .lost(Lost())), 0.1...4))
    }

    @Test func oneFailureTooManyIsThrown() throws {
        var plan = ReconnectionPlan(Reconnection(maxFailures: 3))
        for _ in 0..<2 { _ = try plan.wait(after: .lost(Lost()), random: .system) }
        plan.noteContent()
        for _ in 0..<2 { _ = try plan.wait(after: .lost(Lost()), random: .system) }
        // The end of a stream neither counts nor starts the count again.
        _ = try plan.wait(after: .ended, random: .system)
        #expect(throws: Lost.self) { try plan.wait(after: .lost(Lost()), random: .system) }
    }

    @Test func extremeSettingsDoNotTrap() throws {
        for wait in [Duration.seconds(-1), .zero, .seconds(Int64.max)] {
            for maxWait in [Duration.seconds(-1), .zero, .seconds(Int64.max)] {
                var plan = ReconnectionPlan(Reconnection(wait: wait, maxWait: maxWait, maxFailures: .max))
                for _ in 0..<100 { #expect(try plan.wait(after: .lost(Lost()), random: .system) > .zero) }
            }
        }
    }
}
