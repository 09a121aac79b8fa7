import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct FaultSwitchTests {
    private let request = HTTPRequest(url: apiURL)
    private let random = RandomSource.seeded(1)

    private func kinds(_ faults: FaultSwitch, _ count: Int) -> [Fault?] {
        (0..<count).map { _ in faults.plan(for: request, random: random)?.fault }
    }

    private func plan(_ faults: FaultSwitch, _ request: HTTPRequest? = nil) -> (latency: Duration, fault: Fault?)? {
        faults.plan(for: request ?? self.request, random: random)
    }

    @Test func aShareIsOfManyRequests() {
        let faults = FaultSwitch(.reset.percent(25))
        let count = kinds(faults, 10_000).count { $0 != nil }
        #expect((2_300...2_700).contains(count))
        #expect(kinds(FaultSwitch(.reset.percent(0)), 100).allSatisfy { $0 == nil })
        #expect(kinds(FaultSwitch(.reset.percent(-.infinity)), 10).allSatisfy { $0 == nil })
        #expect(kinds(FaultSwitch(.reset.percent(.nan)), 10).allSatisfy { $0 == nil })
        #expect(kinds(FaultSwitch(.reset.percent(1_000)), 10).allSatisfy { $0 != nil })
    }

    @Test func theFirstChosenFaultHappensAfterAllWaits() throws {
        let faults = FaultSwitch(.reset, .latency(.seconds(1)), .timeout, .latency(.seconds(2)))
        let plan = try #require(self.plan(faults))
        #expect(plan.fault == .reset)
        #expect(plan.latency == .seconds(3))
    }

    @Test func aRandomWaitStaysInItsRange() throws {
        let faults = FaultSwitch(.latency(.milliseconds(100) ... .milliseconds(300)))
        let waits = try (0..<100).map { _ in try #require(plan(faults)).latency }
        #expect(waits.allSatisfy { $0 >= .milliseconds(100) && $0 <= .milliseconds(300) })
        #expect(Set(waits).count > 90)
        let endless = FaultSwitch([Fault](repeating: .latency(.seconds(Int64.max)), count: 40))
        #expect(try #require(plan(endless)).latency > .seconds(1))
        #expect(plan(FaultSwitch(.latency(.seconds(-1))))?.latency == .zero)
    }

    @Test func aPatternAndAMethodSelectRequests() {
        let faults = FaultSwitch(.reset.for(.get, "/users/*"))
        #expect(plan(faults) != nil)
        #expect(plan(faults, HTTPRequest(method: .post, url: apiURL)) == nil)
        #expect(plan(FaultSwitch(.reset.for(nil, "/orders/**"))) == nil)
        #expect(plan(FaultSwitch(.reset.for(nil, "https://*.example.com/**"))) != nil)
        #expect(plan(FaultSwitch(.reset.for(nil, "https://other.example/**"))) == nil)
    }

    @Test func allAndEachAreSwitchedAtRunTime() {
        let faults = FaultSwitch(.status(503), .reset, isOn: false)
        #expect(kinds(faults, 1) == [nil])
        faults.isOn = true
        #expect(kinds(faults, 1) == [.status(503)])
        faults[.status(503)] = false
        #expect(!faults[.status(503)] && faults[.reset])
        #expect(kinds(faults, 1) == [.reset])
        faults[.reset] = false
        #expect(kinds(faults, 1) == [nil])
        faults[.status(503)] = true
        #expect(kinds(faults, 1) == [.status(503)])
    }

    @Test func switchingOnStartsTheCountAgain() {
        let faults = FaultSwitch(.unauthorizedOnce)
        #expect(kinds(faults, 2) == [.unauthorizedOnce, nil])
        faults[.unauthorizedOnce] = true
        #expect(kinds(faults, 1) == [nil], "The fault was on already.")
        faults[.unauthorizedOnce] = false
        faults[.unauthorizedOnce] = true
        #expect(kinds(faults, 2) == [.unauthorizedOnce, nil])
        faults.isOn = false
        faults.isOn = true
        #expect(kinds(faults, 2) == [.unauthorizedOnce, nil])
    }

    @Test func onlyAFaultOfTheSwitchIsOn() {
        let faults = FaultSwitch(.reset, .status(503))
        #expect(!faults[.timeout])
        faults[.timeout] = true
        #expect(!faults[.timeout] && faults[.reset])
    }

    @Test func equalFaultsAreCountedSeparately() {
        #expect(kinds(FaultSwitch(.reset.times(1), .reset.times(1)), 3) == [.reset.times(1), .reset.times(1), nil])
    }

    #if os(macOS) || os(Linux)
    @Test func anInterimStatusIsRefused() async {
        await #expect(processExitsWith: .failure) { _ = Fault.status(103) }
    }
    #endif

    @Test func descriptionsAreForAMenu() {
        let faults: [Fault] = [
            .latency(.seconds(2)), .latency(.seconds(1) ... .seconds(2)), .status(503).percent(20),
            .reset.for(.post, "/orders/**"), .unauthorizedOnce, .truncation.for(nil, "/a?token=secret").times(2),
            .failure(.offline).percent(0.5), .captivePortal, .timeout, .reset.percent(0.01),
        ]
        #expect(
            faults.map(\.description) == [
                "latency of 2.00 s", "latency of 1.00 s to 2.00 s", "status 503 (20 %)", "reset for POST /orders/**",
                "status 401, once", "truncation for any method /a?token=<redacted>, 2 times", "offline (0.5 %)",
                "captive portal", "timeout", "reset (0.01 %)",
            ]
        )
    }
}
