internal import Foundation
internal import InterceptorsCore

extension TransportConformance.Rule {
    /// As the public method over loopback.
    func check(waiting patience: Duration, _ make: TransportConformance.Factory) async throws {
        let clock = ManualClock()
        let server = try MockServer()
        defer { server.stop() }
        let bench = TransportConformance.Bench(server, clock, missing, try make(.manual(clock)))
        try await watch(bench, patience: patience)
    }

    /// As the public method in memory.
    func check(inMemory make: TransportConformance.MemoryFactory, patience: RulePatience) async throws {
        guard !law.requires.contains(.connections) else {
            throw TransportConformance.Observation(
                description: "\(name) can't be checked in memory: it needs connections."
            )
        }
        for seed in 1...law.seeds { try await play(make, seed: seed, patience: patience) }
    }

    private func play(_ make: TransportConformance.MemoryFactory, seed: UInt64, patience: RulePatience) async throws {
        let clock = ManualClock()
        let server = try MockServer()
        defer { server.stop() }
        let peer = server.memoryPeer
        let transport = try make(.manual(clock)) { try await peer.answer($0) }
        let bench = TransportConformance.Bench(server, clock, missing, transport)
        do {
            // The stage has a clock that nobody uses: only the rule moves the time of the transport.
            let play = try RulePlay(seed: seed, clock: ManualClock(), patience: patience, report: report(bench)) { _ in
                try await perform(bench)
            }
            try await play.run()
        } catch is JobQueue.Unavailable {
            try await watch(bench, patience: patience.otherThreads)
        }
        guard server.connectionsOpened == 0 else {
            throw failure("A transport in memory opened \(server.connectionsOpened) connections.")
        }
    }

    private func watch(_ bench: TransportConformance.Bench, patience: Duration) async throws {
        let watch = RuleWatch(patience: patience, progress: { bench.progress }, report: report(bench))
        try await watch.run { try await perform(bench) }
    }

    private func perform(_ bench: TransportConformance.Bench) async throws {
        do {
            try await law.body(bench)
        } catch let observation as TransportConformance.Observation {
            throw failure(observation.description)
        } catch {
            throw failure("A call failed: \(error).")
        }
    }

    private func report(_ bench: TransportConformance.Bench) -> RulePlay.Report {
        { standstill in
            switch standstill {
            case .stuck: failure("Nothing goes on. \(bench.standstill)")
            case .endless: failure("Tasks follow each other without end. \(bench.standstill)")
            case .blockedThread: failure("A task blocks its thread, so that no other can go on. \(bench.standstill)")
            }
        }
    }

    private func failure(_ observed: String) -> TransportConformance.Failure {
        TransportConformance.Failure(law: law, observed: observed)
    }
}
