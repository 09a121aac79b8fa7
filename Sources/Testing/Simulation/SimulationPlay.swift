internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Plays one seed.
struct SimulationPlay {
    let core: SimulationCore
    let exceptions: Set<Simulation.Property>
    let patience: RulePatience
    /// Whether to wait for other threads before the time moves, even if none has taken part yet.
    var waitsForThreads = false

    /// - Returns: the first broken property that isn't an exception, and how often another thread has taken part.
    /// - Throws: the failure of a job that blocks its thread, the error of the closure that makes the client, or
    ///   `CancellationError`.
    func run(_ make: @escaping Simulation.Factory) async throws -> (failure: Simulation.Failure?, threads: Int) {
        let queue = Guarded<JobQueue?>(nil)
        var failure: Simulation.Failure?
        do {
            try await RuleStage.run(
                seed: UInt64(bitPattern: Int64(core.seed)),
                clock: core.clock,
                patience: patience,
                waitsForThreads: waitsForThreads,
                report: { standstill in
                    report(standstill)
                    return self.failure(queue.value, isBlocked: standstill == .blockedThread) ?? standstill
                }
            ) { [core] stage in
                queue.change { $0 = stage.queue }
                try await Self.play(core, stage, make)
            }
            failure = self.failure(queue.value)
        } catch let error as Simulation.Failure where error.property != .noThreadIsBlocked {
            failure = error
        } catch RuleStandstill.stuck, RuleStandstill.endless {
            // The properties that are broken are exceptions.
        }
        return (failure, queue.value?.arrivalsCount ?? 0)
    }

    /// The failure by the first broken property that isn't an exception. A blocked thread is never an exception.
    private func failure(_ queue: JobQueue?, isBlocked: Bool = false) -> Simulation.Failure? {
        let first = core.violations.first {
            isBlocked ? $0.property == .noThreadIsBlocked : !exceptions.contains($0.property)
        }
        return first.map { violation in
            Simulation.Failure(
                seed: core.seed,
                property: violation.property,
                observed: violation.text,
                trace: core.trace,
                otherThreadsCount: queue?.arrivalsCount ?? 0
            )
        }
    }

    /// Records the properties that a seed has broken in which nothing goes on, while its calls still wait.
    private func report(_ standstill: RuleStandstill) {
        let hasCalls = core.state.withLock { !$0.calls.isEmpty }
        switch standstill {
        case .blockedThread:
            core.violate(.noThreadIsBlocked, "A job blocks its thread, so that no other task can go on.")
        case .endless:
            core.violate(
                hasCalls && core.waitingCalls.isEmpty ? .timeEnds : .everyCallEnds,
                """
                Jobs or sleeps follow each other without end, or the seed takes longer than \(patience.wholeCheck) in \
                real time.
                """
            )
            core.checkCalls()
        case .stuck where !hasCalls: core.violate(.everyCallEnds, "The closure that makes the client never ends.")
        case .stuck:
            core.checkCalls()
            core.checkRest()
        }
    }

    private static func play(
        _ core: SimulationCore,
        _ stage: RuleStage,
        _ make: Simulation.Factory
    ) async throws {
        try await makeCalls(core, make)
        await stage.idle()
        while let deadline = core.clock.nextDeadline {
            core.clock.advance(to: deadline)
            await stage.idle()
        }
        core.checkCalls()
        core.checkRest()
        core.dropClosures()
        await stage.idle()
        core.checkRelease()
    }

    /// Makes the client, and returns when all its calls have ended.
    private static func makeCalls(_ core: SimulationCore, _ make: Simulation.Factory) async throws {
        let client = try await make(Simulation.World(core: core))
        if core.state.withLock(\.networks.isEmpty) {
            throw Simulation.NothingTested(
                description: """
                    The closure made a client without world.client(interceptors:) and world.network(), so seed \
                    \(core.seed) tests nothing.
                    """
            )
        }
        let calls = core.makeCalls()
        await withTaskGroup { group in
            for call in calls { group.addTask { await perform(call, client, core) } }
            if core.followsSignIns { core.changeAccounts(in: &group) }
        }
    }

    /// Makes a call, and cancels the call when its time has come.
    private static func perform(_ call: SimulatedCall, _ client: Client, _ core: SimulationCore) async {
        await withTaskGroup { group in
            group.addTask {
                core.ended(call.id, with: await outcome(of: call, client, core))
                return false
            }
            if let delay = call.cancelled {
                group.addTask { (try? await core.clock.sleep(for: delay)) != nil }
            }
            if await group.next() == true { core.cancelled(call.id) }
            group.cancelAll()
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
}

extension SimulationCore {
    fileprivate func makeCalls() -> [SimulatedCall] {
        let hasDeadlines = state.withLock { $0.setDeadline != nil }
        var calls: [SimulatedCall] = []
        for id in 1...number(in: 1...6) {
            calls.append(SimulatedCall(id, self, hasDeadline: hasDeadlines, resembling: calls))
        }
        for call in calls {
            change(call.id) { $0 = call }
            count("method \(call.method)")
            count("account \(call.account ?? "nobody")")
        }
        return calls
    }

    fileprivate func cancelled(_ id: Int) {
        let now = now
        change(id) { $0?.cancelledAt = now }
        note("cancel #\(id)")
        count("cancellation")
    }

    /// Signs in and out while calls run.
    fileprivate func changeAccounts(in group: inout TaskGroup<Void>) {
        for _ in 0..<number(in: 0...4) {
            let delay = Duration.milliseconds(number(in: 0...8_000))
            let name = oneOf(["ada", "bob", nil])
            group.addTask { [self] in
                guard (try? await clock.sleep(for: delay)) != nil else { return }
                signIn(name)
            }
        }
    }
}
