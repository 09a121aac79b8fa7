import Foundation
import TestSupport
import Testing

@testable import Middlewares

@Suite(.againstHanging) struct FaultSwitchTests {
    private let request = HTTPRequest(url: apiURL)

    private func kinds(_ faults: FaultSwitch, _ count: Int) -> [Fault?] {
        (0..<count).map { _ in faults.plan(for: request)?.fault }
    }

    @Test func theSameSeedChoosesTheSame() {
        let make = { (seed: UInt64) in FaultSwitch(.reset.percent(30), .timeout.percent(50), seed: seed) }
        #expect(kinds(make(7), 100) == kinds(make(7), 100))
        #expect(kinds(make(7), 100) != kinds(make(8), 100))
    }

    @Test func aShareIsOfManyRequests() {
        let faults = FaultSwitch(.reset.percent(25), seed: 3)
        let count = kinds(faults, 10_000).count { $0 != nil }
        #expect((2_300...2_700).contains(count))
        #expect(kinds(FaultSwitch(.reset.percent(0)), 100).allSatisfy { $0 == nil })
        #expect(kinds(FaultSwitch(.reset.percent(-.infinity)), 10).allSatisfy { $0 == nil })
        #expect(kinds(FaultSwitch(.reset.percent(.nan)), 10).allSatisfy { $0 == nil })
        #expect(kinds(FaultSwitch(.reset.percent(1_000)), 10).allSatisfy { $0 != nil })
    }

    @Test func theFirstChosenFaultHappensAfterAllWaits() throws {
        let faults = FaultSwitch(.reset, .latency(.seconds(1)), .timeout, .latency(.seconds(2)))
        let plan = try #require(faults.plan(for: request))
        #expect(plan.fault == .reset)
        #expect(plan.latency == .seconds(3))
    }

    @Test func aRandomWaitStaysInItsRange() throws {
        let faults = FaultSwitch(.latency(.milliseconds(100) ... .milliseconds(300)))
        for _ in 0..<100 {
            let wait = try #require(faults.plan(for: request)).latency
            #expect(wait >= .milliseconds(100) && wait <= .milliseconds(300))
        }
        let endless = FaultSwitch([Fault](repeating: .latency(.seconds(Int64.max)), count: 40))
        #expect(try #require(endless.plan(for: request)).latency > .seconds(1))
        #expect(FaultSwitch(.latency(.seconds(-1))).plan(for: request) == nil)
    }

    @Test func aPatternAndAMethodSelectRequests() {
        let faults = FaultSwitch(.reset.for(.get, "/users/*"))
        #expect(faults.plan(for: request) != nil)
        #expect(faults.plan(for: HTTPRequest(method: .post, url: apiURL)) == nil)
        #expect(FaultSwitch(.reset.for(nil, "/orders/**")).plan(for: request) == nil)
        #expect(FaultSwitch(.reset.for(nil, "https://*.example.com/**")).plan(for: request) != nil)
        #expect(FaultSwitch(.reset.for(nil, "https://other.example/**")).plan(for: request) == nil)
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

    @Test func descriptionsAreForAMenu() {
        let faults: [Fault] = [
            .latency(.seconds(2)), .latency(.seconds(1) ... .seconds(2)), .status(503).percent(20),
            .reset.for(.post, "/orders/**"), .unauthorizedOnce, .truncation.for(nil, "/a?token=secret").times(2),
            .failure(.offline).percent(0.5), .captivePortal, .timeout,
        ]
        #expect(
            faults.map(\.description) == [
                "latency of 2.00 s", "latency of 1.00 s to 2.00 s", "status 503 (20 %)", "reset for POST /orders/**",
                "status 401, once", "truncation for any method /a?token=<redacted>, 2 times", "offline (0.5 %)",
                "captive portal", "timeout",
            ]
        )
    }
}
