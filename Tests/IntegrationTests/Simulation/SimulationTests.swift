import Foundation
import InterceptorsTestSupport
import Testing

/// Thousands of random chains, calls and faults in virtual time. A seed determines each simulation.
///
/// | environment | does |
/// | --- | --- |
/// | `SIMULATION_SEED=42` | plays only this seed, and prints its trace |
/// | `SIMULATION_COUNT=100000` | plays this many seeds instead of 600, or 3,000 with INTERCEPTORS_FULL_LOAD |
/// | `SIMULATION_FIRST=1` | starts at this seed instead of the day's |
@Suite(.againstHanging, .heavy) struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["SIMULATION_COUNT"].flatMap(UInt64.init) ?? FullLoad.count(600, full: 3_000)
    private static let first = environment["SIMULATION_FIRST"].flatMap(UInt64.init) ?? DailySeed.of(1)
    /// The number of seeds in each half whose HTTP Archives are checked: all that have a journal, in a run of the usual length.
    private static let archiveLimit = 750
    private static let only = environment["SIMULATION_SEED"].flatMap(UInt64.init)

    @Test(arguments: 0..<2 as Range<UInt64>)
    func whateverHappensTheRulesHold(half: UInt64) async throws {
        if let seed = Self.only {
            guard half == 0 else { return }
            let outcome = try await Self.play([seed])[0].outcome
            print((["seed \(seed)", "\(outcome.chain)"] + outcome.trace).joined(separator: "\n"))
            #expect(outcome.violations == [])
            return
        }
        let seeds = (Self.first..<Self.first + Self.count).filter { $0 % 2 == half }
        var reported = 0
        let outcomes = try await Self.play(seeds, archiveLimit: Self.archiveLimit)
        for (seed, outcome) in outcomes where !outcome.violations.isEmpty {
            reported += 1
            guard reported <= 10 else { continue }
            let replay = "SIMULATION_SEED=\(seed) Scripts/test --filter SimulationTests"
            Issue.record("\(outcome.violations[0])\n\(outcome.chain.joined(separator: ", "))\n\(replay)")
        }
        #expect(reported == 0)
        let archives = outcomes.compactMap(\.outcome.archive)
        if Self.count >= 600 { #expect(archives.count >= 40) }
        #if os(Linux) || os(macOS)
        guard !archives.isEmpty, try await JournalOutput.mustCheckHAR() else { return }
        let faults = try await JournalOutput.faults(in: archives)
        #expect(faults.isEmpty, "archives of the seeds from \(Self.first): \(faults)")
        #endif
    }

    @Test func aSeedPlaysTheSameEachTime() async throws {
        let seeds = (0..<100 as Range<UInt64>).map { $0 &* 7_919 &+ 3 }
        let (first, second) = (try await Self.play(seeds), try await Self.play(seeds))
        for (one, other) in zip(first, second) {
            #expect(one.outcome.trace == other.outcome.trace, "seed \(one.seed)")
        }
    }

    // On a separate thread, because it takes seconds and the pool that runs tasks has few threads.
    private static func play(
        _ seeds: [UInt64],
        archiveLimit: Int = 0
    ) async throws -> [(seed: UInt64, outcome: Simulation.Outcome)] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let outcomes = Result {
                    var archiveCount = 0
                    return try seeds.map { seed in
                        let outcome = try Simulation.run(seed: seed, isArchived: archiveCount < archiveLimit)
                        if outcome.archive != nil { archiveCount += 1 }
                        return (seed: seed, outcome: outcome)
                    }
                }
                continuation.resume(with: outcomes)
            }
        }
    }
}
