import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging) struct PermitsTests {
    private func scope(_ host: String) throws -> LimitScope {
        .origin(try #require(Origin(try url("https://\(host)/"))))
    }

    private func ask(_ permits: inout Permits<String>, _ scope: LimitScope, _ name: String) -> String {
        switch permits.acquire(for: scope, name) {
        case .go: "go"
        case .wait(let ticket, let waiter): "\(waiter) waits as \(ticket)"
        case .full(let waiting): "full at \(waiting)"
        }
    }

    @Test func thoseWithinTheLimitGoAndTheOthersWaitInOrder() {
        var permits = Permits<String>(.init(total: 2))
        #expect(["a", "b", "c", "d"].map { ask(&permits, .all, $0) } == ["go", "go", "c waits as 1", "d waits as 2"])
        #expect((permits.inUse, permits.waiting) == (2, 2))
        #expect(permits.release(for: .all) == "c")
        #expect(permits.release(for: .all) == "d")
        #expect((permits.inUse, permits.waiting) == (2, 0))
        #expect(permits.release(for: .all) == nil)
        #expect(permits.release(for: .all) == nil)
        #expect((permits.inUse, permits.scopeCount) == (0, 0))
    }

    @Test func fullLineTakesNobodyMore() {
        var permits = Permits<String>(.init(total: 1, maxQueued: 1))
        #expect(["a", "b", "c"].map { ask(&permits, .all, $0) } == ["go", "b waits as 1", "full at 1"])
        #expect(permits.leave(1, for: .all) == "b")
        #expect(ask(&permits, .all, "d") == "d waits as 2")
    }

    @Test func lineOfNobodyRefusesAtOnce() {
        var permits = Permits<String>(.init(total: 1, maxQueued: 0))
        #expect(["a", "b"].map { ask(&permits, .all, $0) } == ["go", "full at 0"])
    }

    @Test func whoLeavesIsPassedOverAndWhoHasAPermitCannotLeave() {
        var permits = Permits<String>(.init(total: 1))
        _ = ["a", "b", "c"].map { ask(&permits, .all, $0) }
        #expect(permits.leave(1, for: .all) == "b")
        #expect(permits.leave(1, for: .all) == nil)
        #expect(permits.release(for: .all) == "c")
        #expect(permits.leave(2, for: .all) == nil)
        #expect(permits.inUse == 1)
    }

    @Test func fullHostHoldsUpNoOther() throws {
        var permits = Permits<String>(.init(total: 3, perHost: 1))
        let (one, two) = (try scope("one"), try scope("two"))
        #expect(ask(&permits, one, "a") == "go")
        #expect(ask(&permits, one, "b") == "b waits as 1")
        #expect(ask(&permits, two, "c") == "go")
        #expect(permits.release(for: two) == nil)
        #expect(permits.release(for: one) == "b")
    }

    @Test func ofThoseWhoCouldGoTheOneWhoCameFirstGoes() throws {
        var permits = Permits<String>(.init(total: 2, perHost: 1))
        let (one, two, three) = (try scope("one"), try scope("two"), try scope("three"))
        #expect([one, two].map { ask(&permits, $0, "holder") } == ["go", "go"])
        _ = ask(&permits, one, "of one")
        _ = ask(&permits, three, "of three")
        _ = ask(&permits, two, "of two")
        #expect(permits.release(for: two) == "of three")
        #expect(permits.release(for: one) == "of one")
        #expect(permits.release(for: three) == "of two")
    }

    @Test func hostsOfThoseWhoLeftAreForgotten() throws {
        var permits = Permits<String>(.init(total: 1, perHost: 1))
        _ = ask(&permits, try scope("busy"), "a")
        for number in 1...10_000 {
            let scope = try scope("host-\(number % 100)")
            _ = ask(&permits, scope, "b")
            _ = permits.leave(number, for: scope)
            #expect(permits.scopeCount == 1)
        }
        _ = ask(&permits, try scope("last"), "c")
        #expect(permits.release(for: try scope("busy")) == "c")
    }

    @Test func hostsThatNobodyUsesAreForgotten() throws {
        var permits = Permits<String>(.init(perHost: 1))
        for number in 0..<100 {
            let scope = try scope("host-\(number)")
            _ = ask(&permits, scope, "a")
            _ = ask(&permits, scope, "b")
            _ = permits.leave(number + 1, for: scope)
            _ = permits.release(for: scope)
        }
        #expect(permits.scopeCount == 0)
    }

    /// After any events, the limits hold, nobody waits without need, and everyone is served once.
    @Test(arguments: 0..<20)
    func anyOrderOfEventsKeepsTheLimitsAndServesEachOnce(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limits = Permits<Int>.Limits(
            total: Bool.random(using: &random) ? Int.random(in: 1...6, using: &random) : nil,
            perHost: Int.random(in: 1...3, using: &random),
            maxQueued: Bool.random(using: &random) ? 10 : nil
        )
        var permits = Permits<Int>(limits)
        let scopes = try (0..<Int.random(in: 1...12, using: &random)).map { try scope("host-\($0)") }
        var holders: [LimitScope] = []
        var lines: [(ticket: Int, scope: LimitScope)] = []
        for _ in 0..<3000 {
            let scope = scopes.randomElement(using: &random) ?? .all
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                switch permits.acquire(for: scope, 0) {
                case .go: holders.append(scope)
                case .wait(let ticket, _): lines.append((ticket, scope))
                case .full(let waiting): #expect(waiting == limits.maxQueued)
                }
            case 2, 3:
                guard let index = holders.indices.randomElement(using: &random) else { break }
                let returned = holders.remove(at: index)
                let candidates = lines.filter { line in
                    holders.count < limits.total ?? .max
                        && holders.count { $0 == line.scope } < limits.perHost ?? .max
                }
                let isServed = permits.release(for: returned) != nil
                #expect(isServed == !candidates.isEmpty)
                if let first = candidates.first {
                    lines.removeAll { $0.ticket == first.ticket }
                    holders.append(first.scope)
                    // The permit went to the first candidate, which can therefore no longer leave the line.
                    #expect(permits.leave(first.ticket, for: first.scope) == nil)
                }
            default:
                guard let index = lines.indices.randomElement(using: &random) else { break }
                let (ticket, scope) = lines.remove(at: index)
                #expect(permits.leave(ticket, for: scope) != nil)
            }
            #expect(permits.inUse == holders.count)
            #expect(permits.waiting == lines.count)
            #expect(holders.count <= limits.total ?? .max)
            for scope in scopes { #expect(holders.count { $0 == scope } <= limits.perHost ?? .max) }
        }
    }
}
