import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct FaultPlanTests {
    private let request = HTTPRequest(url: apiURL)
    private let random = RandomSource.seeded(1)

    private func plan(_ faults: Fault...) -> FaultPlan { FaultPlan(faults) }

    private func next(_ plan: FaultPlan, _ request: HTTPRequest? = nil) -> (latency: Duration, fault: Fault.Kind?)? {
        plan.next(for: request ?? self.request, random: random)
    }

    private func kinds(_ plan: FaultPlan, _ count: Int) -> [String?] {
        (0..<count).map { _ in next(plan)?.fault.map { "\($0)" } }
    }

    @Test func aShareIsOfManyRequests() {
        let faults = plan(.reset.percent(25))
        let count = kinds(faults, 10_000).count { $0 != nil }
        #expect((2_300...2_700).contains(count))
        #expect(kinds(plan(.reset.percent(0)), 100).allSatisfy { $0 == nil })
        #expect(kinds(plan(.reset.percent(-.infinity)), 10).allSatisfy { $0 == nil })
        #expect(kinds(plan(.reset.percent(.nan)), 10).allSatisfy { $0 == nil })
        #expect(kinds(plan(.reset.percent(1_000)), 10).allSatisfy { $0 != nil })
    }

    @Test func theFirstChosenFaultHappensAfterAllWaits() throws {
        let faults = plan(.reset, .latency(.seconds(1)), .timeout, .latency(.seconds(2)))
        let chosen = try #require(next(faults))
        #expect(chosen.fault.map { "\($0)" } == "reset")
        #expect(chosen.latency == .seconds(3))
    }

    @Test func aRandomWaitStaysInItsRange() throws {
        let faults = plan(.latency(.milliseconds(100) ... .milliseconds(300)))
        let waits = try (0..<100).map { _ in try #require(next(faults)).latency }
        #expect(waits.allSatisfy { $0 >= .milliseconds(100) && $0 <= .milliseconds(300) })
        #expect(Set(waits).count > 90)
        let endless = FaultPlan([Fault](repeating: .latency(.seconds(Int64.max)), count: 40))
        #expect(try #require(next(endless)).latency > .seconds(1))
        #expect(next(plan(.latency(.seconds(-1))))?.latency == .zero)
    }

    @Test func aPatternAndAMethodSelectRequests() {
        let faults = plan(.reset.for(.get, "/users/*"))
        #expect(next(faults) != nil)
        #expect(next(faults, HTTPRequest(method: .post, url: apiURL)) == nil)
        #expect(next(plan(.reset.for(nil, "/orders/**"))) == nil)
        #expect(next(plan(.reset.for(nil, "https://*.example.com/**"))) != nil)
        #expect(next(plan(.reset.for(nil, "https://other.example/**"))) == nil)
    }

    @Test func aFaultHappensToAsManyRequestsAsItIsFor() {
        #expect(kinds(plan(.reset.times(2)), 4) == ["reset", "reset", nil, nil])
        #expect(kinds(plan(.reset.times(-1)), 1) == [nil])
    }

    @Test func equalFaultsAreCountedSeparately() {
        #expect(kinds(plan(.reset.times(1), .reset.times(1)), 3) == ["reset", "reset", nil])
    }

    #if os(macOS) || os(Linux)
    @Test func anInterimStatusIsRefused() async {
        await #expect(processExitsWith: .failure) { _ = Fault.status(103) }
    }
    #endif
}
