internal import Foundation
internal import Interceptors
internal import Synchronization

/// Plays one seed.
final class SimulationPlay: Sendable {
    private let core: SimulationCore
    private let queue: JobQueue
    private let progress: SimulationProgress
    private let patience: RulePatience
    private let exceptions: Set<Simulation.Property>
    private static let mostSteps = 300_000

    init(
        _ core: SimulationCore,
        _ progress: SimulationProgress,
        _ patience: RulePatience,
        _ exceptions: Set<Simulation.Property>
    ) throws {
        self.core = core
        self.progress = progress
        self.patience = patience
        self.exceptions = exceptions
        queue = try JobQueue(seed: core.seed)
    }

    func run(_ make: Simulation.Factory) throws {
        try queue.enter {
            let client = try make(Simulation.World(core: core))
            let hasDeadlines = core.state.withLock { $0.setDeadline != nil }
            for id in 1...core.number(in: 1...6) { start(SimulatedCall(id, core, hasDeadline: hasDeadlines), client) }
            if core.followsSignIns { changeAccounts() }
        }
        let isFinished = play()
        core.checkCalls()
        if isFinished { checkEnd() }
        try throwViolation()
    }

    private func checkEnd() {
        core.checkRest()
        core.dropClosures()
        _ = queue.runAll(limit: 1_000)
        core.checkRelease()
    }

    private func throwViolation() throws {
        guard let first = core.violations.first(where: { !exceptions.contains($0.property) }) else { return }
        throw Simulation.Failure(
            seed: core.seed,
            property: first.property,
            observed: first.text,
            trace: core.trace,
            otherThreadsCount: queue.otherThreadsCount
        )
    }

    /// Alternates between running jobs and advancing the time, until neither is left. Returns `false` if that doesn't happen.
    private func play() -> Bool {
        var steps = 0
        while steps < Self.mostSteps {
            steps += runJobs() + 1
            if let deadline = core.clock.nextDeadline {
                queue.enter { core.clock.advance(to: deadline) }
            } else if core.waitingCalls.isEmpty || !queue.waitForOtherThreads(upTo: patience.otherThreads) {
                return true
            }
        }
        core.violate(
            core.waitingCalls.isEmpty ? .timeEnds : .everyCallEnds,
            "Jobs or sleeps follow each other without end."
        )
        return false
    }

    private func runJobs() -> Int {
        var count = 0
        while count < Self.mostSteps {
            progress.step()
            let ran = queue.runAll(limit: 1)
            progress.step()
            if ran == 0 { break }
            count += 1
        }
        return count
    }
}

extension SimulationPlay {
    private func start(_ call: SimulatedCall, _ client: Client) {
        let core = core
        let id = call.id
        core.change(id) { $0 = call }
        let task = Task(executorPreference: queue) {
            core.ended(id, with: await Self.outcome(of: call, client, core))
        }
        guard let delay = call.cancelled else { return }
        Task(executorPreference: queue) {
            try? await core.clock.sleep(for: delay)
            let now = core.now
            core.change(id) { if $0?.ends == 0 { $0?.cancelledAt = now } }
            core.note("cancel #\(id)")
            task.cancel()
        }
    }

    /// The error of a call, if it fails.
    private static func outcome(of call: SimulatedCall, _ client: Client, _ core: SimulationCore) async -> (any Error)?
    {
        do {
            try await core.clock.sleep(for: call.delay)
            try await make(call, client, core)
            return nil
        } catch {
            return error
        }
    }

    private static func make(_ call: SimulatedCall, _ client: Client, _ core: SimulationCore) async throws {
        var request = call.request(core)
        let start = core.now
        core.note("begin #\(call.id)\(call.account.map { " of \($0)" } ?? "")")
        core.change(call.id) { $0?.began = start }
        if let limit = call.deadline { core.state.withLock(\.setDeadline)?(&request, limit) }
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch {
            core.answered(call.id)
            throw error
        }
        core.answered(call.id)
        core.check(response, of: call, since: start)
        switch call.reading {
        case .all: _ = try await response.body.collect(upTo: 1 << 20)
        case .part:
            var chunks = response.body.makeAsyncIterator()
            _ = try await chunks.next()
            response.body.discard()
        case .none: response.body.discard()
        }
    }

    /// Signs in and out while calls run.
    private func changeAccounts() {
        let core = core
        for _ in 0..<core.number(in: 0...4) {
            let delay = Duration.milliseconds(core.number(in: 0...8_000))
            let name = core.oneOf(["ada", "bob", nil])
            Task(executorPreference: queue) {
                try? await core.clock.sleep(for: delay)
                core.signIn(name)
            }
        }
    }
}
