internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Plays one seed.
final class SimulationPlay: Sendable {
    private struct State {
        /// `nil` while the closure makes the client.
        var preparation: Result<Void, any Error>?
        var tasks: [Task<Void, Never>] = []
    }

    private let core: SimulationCore
    private let queue: JobQueue
    private let progress: SimulationProgress
    private let patience: RulePatience
    private let exceptions: Set<Simulation.Property>
    private let longest: Duration
    private let waitsForThreads: Bool
    private let start = ContinuousClock.now
    private let state = Mutex(State())
    private static let mostSteps = 300_000

    /// - Parameters:
    ///   - longest: the longest time in real time.
    ///   - waitsForThreads: whether to wait for other threads before the time moves, even if none has taken part yet.
    init(
        _ core: SimulationCore,
        _ progress: SimulationProgress,
        _ patience: RulePatience,
        exceptions: Set<Simulation.Property>,
        longest: Duration,
        waitsForThreads: Bool
    ) throws {
        self.core = core
        self.progress = progress
        self.patience = patience
        self.exceptions = exceptions
        self.longest = longest
        self.waitsForThreads = waitsForThreads
        queue = try JobQueue(seed: UInt64(bitPattern: Int64(core.seed)))
    }

    /// How often another thread has taken part.
    var otherThreadsCount: Int { queue.arrivalsCount }

    /// - Returns: the first broken property that isn't an exception.
    /// - Throws: the error of the closure that makes the client, or `CancellationError`.
    func run(_ make: @escaping Simulation.Factory) throws -> Simulation.Failure? {
        defer { endTasks() }
        queue.enter { add(Task(executorPreference: queue) { await self.prepare(make) }) }
        let isFinished = try play()
        switch state.withLock(\.preparation) {
        case nil: core.violate(.everyCallEnds, "The closure that makes the client never ends.")
        case .failure(let error): throw error
        case .success: core.checkCalls()
        }
        if isFinished { try checkEnd() }
        return failure
    }

    private func prepare(_ make: Simulation.Factory) async {
        let result: Result<Void, any Error>
        do {
            let client = try await make(Simulation.World(core: core))
            if core.state.withLock(\.networks.isEmpty) {
                throw Simulation.NothingTested(
                    description: """
                        The closure made a client without world.client(interceptors:) and world.network(), so seed \
                        \(core.seed) tests nothing.
                        """
                )
            }
            startCalls(client)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        state.withLock { $0.preparation = result }
    }

    private func checkEnd() throws {
        core.checkRest()
        core.dropClosures()
        repeat { _ = try runJobs(limit: 1_000) } while settles()
        core.checkRelease()
    }

    private var failure: Simulation.Failure? {
        guard let first = core.violations.first(where: { !exceptions.contains($0.property) }) else { return nil }
        return Simulation.Failure(
            seed: core.seed,
            property: first.property,
            observed: first.text,
            trace: core.trace,
            otherThreadsCount: queue.arrivalsCount
        )
    }

    /// Alternates between running jobs and advancing the time, until neither is left. Returns `false` if that doesn't happen.
    private func play() throws -> Bool {
        var steps = 0
        while steps < Self.mostSteps, !isOverdue {
            steps += try runJobs(limit: Self.mostSteps) + 1
            if settles() { continue }
            if let deadline = core.clock.nextDeadline {
                queue.enter { core.clock.advance(to: deadline) }
            } else if hasEnded || !queue.waitForOtherThreads(upTo: patience.otherThreads) {
                return true
            }
        }
        core.violate(
            hasEnded ? .timeEnds : .everyCallEnds,
            isOverdue
                ? "The seed takes longer than \(longest) in real time."
                : "Jobs or sleeps follow each other without end."
        )
        return false
    }

    private var isOverdue: Bool { ContinuousClock.now - start >= longest }
    private var hasEnded: Bool { state.withLock { $0.preparation != nil } && core.waitingCalls.isEmpty }

    /// Waits briefly for other threads if any has taken part. Returns whether jobs became ready.
    private func settles() -> Bool {
        (waitsForThreads || queue.arrivalsCount > 0) && queue.waitBriefly()
    }

    /// Runs jobs until none is ready, and returns their number.
    private func runJobs(limit: Int) throws -> Int {
        var count = 0
        while count < limit {
            if progress.isStopped { throw CancellationError() }
            if count % 1_024 == 1_023, isOverdue { break }
            guard runJob() else { break }
            count += 1
        }
        return count
    }

    private func runJob() -> Bool {
        progress.step()
        defer { progress.step() }
        return queue.runAll(limit: 1) > 0
    }

    private func add(_ task: Task<Void, Never>) { state.withLock { $0.tasks.append(task) } }

    /// Ends what the seed left behind, so that it doesn't stay in memory.
    private func endTasks() {
        let tasks = state.withLock(\.tasks)
        queue.enter { for task in tasks { task.cancel() } }
        var count = 0
        while count < 10_000, !progress.isBlocked, runJob() { count += 1 }
    }
}

extension SimulationPlay {
    private func startCalls(_ client: Client) {
        let hasDeadlines = core.state.withLock { $0.setDeadline != nil }
        var calls: [SimulatedCall] = []
        for id in 1...core.number(in: 1...6) {
            calls.append(SimulatedCall(id, core, hasDeadline: hasDeadlines, resembling: calls))
        }
        for call in calls { start(call, client) }
        if core.followsSignIns { changeAccounts() }
    }

    private func start(_ call: SimulatedCall, _ client: Client) {
        let core = core
        let id = call.id
        core.change(id) { $0 = call }
        core.count("method \(call.method)")
        core.count("account \(call.account ?? "nobody")")
        let task = Task(executorPreference: queue) {
            core.ended(id, with: await Self.outcome(of: call, client, core))
        }
        add(task)
        guard let delay = call.cancelled else { return }
        add(
            Task(executorPreference: queue) {
                try? await core.clock.sleep(for: delay)
                let now = core.now
                core.change(id) { if $0?.endedAt == nil { $0?.cancelledAt = now } }
                core.note("cancel #\(id)")
                core.count("cancellation")
                task.cancel()
            }
        )
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
        let exchange = core.check(response, of: call, since: start)
        switch call.reading {
        case .all:
            let content = try await response.body.collect(upTo: Simulation.contentLimit)
            core.check(content, isWhole: true, of: call, from: exchange, since: start)
        case .part:
            var chunks = response.body.makeAsyncIterator()
            let chunk = try await chunks.next()
            response.body.discard()
            core.check(chunk ?? Data(), isWhole: false, of: call, from: exchange, since: start)
        case .none: response.body.discard()
        }
    }

    /// Signs in and out while calls run.
    private func changeAccounts() {
        let core = core
        for _ in 0..<core.number(in: 0...4) {
            let delay = Duration.milliseconds(core.number(in: 0...8_000))
            let name = core.oneOf(["ada", "bob", nil])
            add(
                Task(executorPreference: queue) {
                    try? await core.clock.sleep(for: delay)
                    core.signIn(name)
                }
            )
        }
    }
}
