import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct FaultChanceTests {
    private func requests(_ paths: String...) throws -> [HTTPRequest] {
        try paths.map { HTTPRequest(url: try url("https://api.example.com\($0)")) }
    }

    private func fates(_ faults: FaultSwitch, _ requests: [HTTPRequest], seed: UInt64 = 1) -> [FaultPlan?] {
        let random = RandomSource.seeded(seed)
        return requests.map { faults.plan(for: $0, random: random) }
    }

    @Test func theOrderOfOtherRequestsChangesNothing() throws {
        let pair = try requests("/a", "/b")
        let orders = [[0, 1], [1, 0]].map { order in
            let faults = FaultSwitch(.reset.percent(50), .timeout.percent(50), seed: 7)
            var kinds: [[Fault?]] = [[], []]
            for _ in 0..<50 {
                for index in order { kinds[index] += fates(faults, [pair[index]]).map(\.?.fault) }
            }
            return kinds
        }
        #expect(orders[0] == orders[1])
        #expect(orders[0][0] != orders[0][1], "The two requests have different fates.")
    }

    @Test func switchingAFaultLeavesTheChoicesOfOthers() throws {
        let requests = try requests("/a", "/b", "/a", "/c", "/a", "/b", "/d", "/e", "/f", "/g")
        let latency = Fault.latency(.zero ... .seconds(9)).percent(50)
        let make = { FaultSwitch(.status(503).percent(50), latency, .reset.percent(50), seed: 3) }
        let all = fates(make(), requests)
        let fewer = make()
        fewer[.status(503).percent(50)] = false
        let others = fates(fewer, requests)
        #expect(all.map { $0?.latency ?? .zero } == others.map { $0?.latency ?? .zero })
        let resets = zip(all, others).filter { $0.0?.fault?.kind == .reset }
        #expect(resets.allSatisfy { $0.1?.fault?.kind == .reset && $0.0?.part == $0.1?.part } && !resets.isEmpty)
    }

    @Test func withoutASeedTheSourceOfTimeChooses() throws {
        let requests = [HTTPRequest](repeating: try #require(try requests("/a").first), count: 50)
        let kinds = { (seed: UInt64) in
            fates(FaultSwitch(.reset.percent(50)), requests, seed: seed).map { $0 == nil }
        }
        #expect(kinds(5) == kinds(5))
        #expect(kinds(5) != kinds(6))
    }

    @Test func theInterceptorPassesItsSourceOn() async throws {
        let request = try #require(try requests("/a").first)
        func statuses(_ seed: UInt64) async throws -> [Int] {
            let time = TimeSource.manual(ManualClock(), seed: seed)
            let chain = InterceptorChain([.faults(.status(503).percent(50), time: time)], transport: Recorder())
            var codes: [Int] = []
            for _ in 0..<50 { codes.append(try await chain.send(request).status.code) }
            return codes
        }
        let first = try await statuses(1)
        #expect(try await statuses(1) == first)
        #expect(try await statuses(2) != first)
    }

    @Test func theSeedIsTheSameOnEveryPlatform() {
        let request = FaultChance.identity(.get, "https://api.example.com/users/42")
        #expect(FaultChance.identity(.post, "https://api.example.com/users/42") != request)
        let source = FaultChance(seed: 7, request: request, count: 0).source(ofFault: 0)
        #expect(source.next() == 0x5D7D_61B3_E42C_3F03)
    }

    @Test func requestsBeyondTheLimitShareOneCount() {
        var counts = RequestCounts()
        let limit = UInt64(RequestCounts.limit)
        #expect((1...limit).allSatisfy { counts.count($0) == 0 })
        #expect(counts.count(limit + 1) == 0)
        #expect(counts.count(limit + 2) == 1)
        #expect(counts.count(limit + 1) == 2)
        #expect(counts.count(1) == 1)
    }
}
