import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct FaultSourceTests {
    private func requests(_ paths: String...) throws -> [HTTPRequest] {
        try paths.map { HTTPRequest(url: try url("https://api.example.com\($0)")) }
    }

    private func fates(_ faults: FaultSwitch, _ requests: [HTTPRequest], seed: UInt64 = 1) -> [Fault?] {
        let random = RandomSource.seeded(seed)
        return requests.map { faults.plan(for: $0, random: random)?.fault }
    }

    @Test func theSourceOfTimeChooses() throws {
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
}
