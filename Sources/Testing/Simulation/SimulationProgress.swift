internal import InterceptorsCore
internal import Synchronization

/// The progress of a whole simulation, for the thread that watches it.
final class SimulationProgress: Sendable {
    private let beat = Atomic<Int>(0)
    private let hasStopped = Atomic<Bool>(false)
    private let hasBlocked = Atomic<Bool>(false)
    private let core = Mutex<SimulationCore?>(nil)

    /// The number of jobs that began, doubled, plus one while a job runs.
    var jobs: Int { beat.load(ordering: .relaxed) }
    func step() { beat.add(1, ordering: .relaxed) }
    func begin(_ core: SimulationCore) { self.core.withLock { $0 = core } }

    /// Whether the simulation must end before its next job.
    var isStopped: Bool { hasStopped.load(ordering: .relaxed) }
    /// Whether a job has blocked its thread. No further job may run then.
    var isBlocked: Bool { hasBlocked.load(ordering: .relaxed) }

    /// Ends the simulation before its next job.
    func stop() { hasStopped.store(true, ordering: .relaxed) }

    /// Ends the simulation before its next job, because the present one blocks its thread.
    func block() -> any Error {
        hasBlocked.store(true, ordering: .relaxed)
        stop()
        let core = core.withLock(\.self)
        return Simulation.Failure(
            seed: core?.seed ?? 0,
            property: .noThreadIsBlocked,
            observed: "A job blocks its thread, so that no other task can go on.",
            trace: core?.trace ?? [],
            otherThreadsCount: 0
        )
    }
}
