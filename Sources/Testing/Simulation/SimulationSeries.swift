internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Plays the seeds of a simulation one after another.
struct SimulationSeries {
    let simulation: Simulation
    /// The content of each response; `nil` for content that differs by exchange.
    let content: Data?
    let patience: RulePatience

    /// Whether other threads have taken part, so that a seed must wait for them before its time moves.
    var waitsForThreads = false
    var seeds = 0
    var sent = 0
    var succeeded = 0
    /// With fewer seeds a good chain may meet no success.
    private static let fewestSeeds = 20

    /// Plays a seed, and plays it again if it breaks a property.
    mutating func play(_ seed: Int) async throws {
        try Task.checkCancellation()
        var (failure, threads) = try await playOnce(seed)
        if threads > 0, !waitsForThreads {
            waitsForThreads = true
            // The time may have moved on while another thread worked for a call.
            if failure != nil { failure = try await playOnce(seed).failure }
        }
        seeds += 1
        guard var failure else { return }
        failure.isRepeated = failure.isSame(as: try await playOnce(seed).failure)
        throw failure
    }

    private mutating func playOnce(_ seed: Int) async throws -> (failure: Simulation.Failure?, threads: Int) {
        let core = try SimulationCore(seed: seed, content: content)
        let play = SimulationPlay(
            core: core,
            exceptions: simulation.exceptions,
            patience: patience,
            waitsForThreads: waitsForThreads
        )
        let result = try await play.run(simulation.make)
        let counts = core.state.withLock { ($0.exchanges.count, $0.successes) }
        sent += counts.0
        succeeded += counts.1
        return result
    }

    /// Throws an error if the seeds have tested nothing.
    func checkCounts() throws {
        guard seeds >= Self.fewestSeeds, sent == 0 || succeeded == 0 else { return }
        throw Simulation.NothingTested(
            description: sent == 0
                ? "No call of any seed reached the network, so nothing was tested."
                : "No call of any seed got a response with a 2xx status, so little was tested."
        )
    }
}
