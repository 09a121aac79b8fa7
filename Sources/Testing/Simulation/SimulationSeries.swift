internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Plays the seeds of a simulation one after another.
struct SimulationSeries {
    let simulation: Simulation
    /// The content of each response; `nil` for content that differs by exchange.
    let content: Data?
    let progress: SimulationProgress
    let patience: RulePatience
    /// The longest time of one seed, in real time.
    let longestSeed: Duration

    /// Whether other threads have taken part, so that a seed must wait for them before its time moves.
    private var waitsForThreads = false
    private var seeds = 0
    private var sent = 0
    private var succeeded = 0
    /// With fewer seeds a good chain may meet no success.
    static let fewestSeeds = 20

    init(
        _ simulation: Simulation,
        content: Data?,
        _ progress: SimulationProgress,
        _ patience: RulePatience,
        longestSeed: Duration
    ) {
        self.simulation = simulation
        self.content = content
        self.progress = progress
        self.patience = patience
        self.longestSeed = longestSeed
    }

    /// Plays a seed, and plays it again if it breaks a property.
    mutating func play(_ seed: Int) throws {
        var (failure, threads) = try playOnce(seed)
        if threads > 0, !waitsForThreads {
            waitsForThreads = true
            // The time may have moved on while another thread worked for a call.
            if failure != nil { failure = try playOnce(seed).failure }
        }
        seeds += 1
        guard var failure else { return }
        failure.isRepeated = failure.isSame(as: try playOnce(seed).failure)
        throw failure
    }

    private mutating func playOnce(_ seed: Int) throws -> (failure: Simulation.Failure?, threads: Int) {
        let core = try SimulationCore(seed: seed, content: content)
        progress.begin(core)
        let play = try SimulationPlay(
            core,
            progress,
            patience,
            exceptions: simulation.exceptions,
            longest: longestSeed,
            waitsForThreads: waitsForThreads
        )
        let failure = try play.run(simulation.make)
        let counts = core.state.withLock { ($0.exchanges.count, $0.successes) }
        sent += counts.0
        succeeded += counts.1
        return (failure, play.otherThreadsCount)
    }

    /// Throws an error if the seeds have tested nothing.
    func checkCounts() throws {
        guard seeds >= Self.fewestSeeds else { return }
        if sent == 0 {
            throw Simulation.NothingTested(
                description: "No call of any seed reached the network, so nothing was tested."
            )
        }
        if succeeded == 0 {
            throw Simulation.NothingTested(
                description: "No call of any seed got a response with a 2xx status, so little was tested."
            )
        }
    }
}
