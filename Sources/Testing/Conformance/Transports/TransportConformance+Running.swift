internal import Foundation
internal import InterceptorsCore

extension TransportConformance.Law {
    /// Checks a transport over loopback.
    func check(
        without missing: Set<TransportConformance.Capability>,
        patience: RulePatience,
        _ make: TransportConformance.Factory
    ) async throws {
        let clock = ManualClock()
        let server = try MockServer()
        defer { server.stop() }
        try await watch(TransportConformance.Bench(server, clock, missing, try make(.manual(clock))), patience)
    }

    /// Checks a transport without connections, once for each seed.
    func check(
        without missing: Set<TransportConformance.Capability>,
        inMemory make: TransportConformance.MemoryFactory,
        patience: RulePatience
    ) async throws {
        for seed in 1...(seeds ?? 1) {
            let clock = ManualClock()
            let server = try MockServer()
            defer { server.stop() }
            let peer = server.memoryPeer
            let transport = try make(.manual(clock)) { try await peer.answer($0) }
            let bench = TransportConformance.Bench(server, clock, missing, transport)
            let report: RuleStage.Report = { text.failure(of: $0, bench.standstill) }
            do {
                // The stage has a clock that nobody uses: only the rule moves the time of the transport.
                try await RuleStage.run(seed: seed, clock: ManualClock(), patience: patience, report: report) { _ in
                    try await judge(bench)
                }
            } catch is JobQueue.Unavailable {
                try await watch(bench, patience)
            }
            guard server.connectionsOpened == 0 else {
                let observed = "A transport in memory opened \(server.connectionsOpened) connections."
                throw RuleFailure(rule: text, observed: observed)
            }
        }
    }

    private func watch(_ bench: TransportConformance.Bench, _ patience: RulePatience) async throws {
        let watch = RuleWatch(patience: patience.otherThreads, progress: { bench.progress }) {
            text.failure(of: $0, bench.standstill)
        }
        try await watch.run { try await judge(bench) }
    }

    private func judge(_ bench: TransportConformance.Bench) async throws {
        try await text.judging("A call failed") { try await body(bench) }
    }
}
