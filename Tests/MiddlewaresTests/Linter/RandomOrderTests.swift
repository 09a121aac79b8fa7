import Foundation
import TestSupport
import Testing

@testable import Interceptors
@testable import Middlewares

/// Random chains with two accounts: whatever goes wrong has a finding.
///
/// `CHAIN_ORDER_COUNT=100000` plays this many chains instead of 1,000, `CHAIN_ORDER_FIRST=…` starts at another seed.
@Suite(.againstHanging, .heavy) struct RandomOrderTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["CHAIN_ORDER_COUNT"].flatMap(UInt64.init) ?? 1_000
    private static let first = environment["CHAIN_ORDER_FIRST"].flatMap(UInt64.init) ?? 1

    @Test func whateverGoesWrongHasAFinding() async throws {
        var reported = 0
        var seen: [RandomOrder.Violation: Int] = [:]
        for seed in Self.first..<Self.first + Self.count {
            var random = SeededGenerator(seed: seed)
            let order = RandomOrder(&random)
            let chain = InterceptorChain(order.interceptors, transport: order.server)
            let findings = chain.findings
            let violations = await order.violations()
            for violation in violations { seen[violation, default: 0] += 1 }
            let isExplained =
                violations.isEmpty
                || !findings.isEmpty
                    && (!violations.contains(where: \.needsBroken) || findings.contains { $0.severity == .broken })
            guard !isExplained else { continue }
            reported += 1
            if reported <= 10 {
                Issue.record("seed \(seed): \(violations.sorted()) \(order.kinds)\n\(chain)")
            }
        }
        #expect(reported == 0)
        // Otherwise the chains show nothing.
        if Self.count >= 1_000 { #expect(seen.count >= 8, "\(seen)") }
    }
}
