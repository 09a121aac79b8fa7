import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct FaultSourceTests {
    private func requests(_ paths: String...) throws -> [HTTPRequest] {
        try paths.map { HTTPRequest(url: try url("https://api.example.com\($0)")) }
    }

    private func fates(_ faults: FaultPlan, _ requests: [HTTPRequest], seed: UInt64 = 1) -> [Bool] {
        let random = RandomSource.seeded(seed)
        return requests.map { faults.next(for: $0, random: random) != nil }
    }

    @Test func theSourceOfTimeChooses() throws {
        let requests = [HTTPRequest](repeating: try #require(try requests("/a").first), count: 50)
        let kinds = { (seed: UInt64) in
            fates(FaultPlan([.reset.percent(50)]), requests, seed: seed)
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
}
