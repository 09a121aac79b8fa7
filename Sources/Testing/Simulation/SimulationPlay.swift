internal import Foundation
internal import Synchronization

/// Plays one seed.
struct SimulationPlay {
    let world: Simulation.World
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
                seed: UInt64(bitPattern: Int64(world.seed)),
                clock: world.clock,
                patience: patience,
                waitsForThreads: waitsForThreads,
                report: { standstill in
                    report(standstill)
                    return self.failure(queue.value, isBlocked: standstill == .blockedThread) ?? standstill
                }
            ) { [world] stage in
                queue.change { $0 = stage.queue }
                try await Self.play(world, stage, make)
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
        let first = world.state.withLock(\.violations).first {
            isBlocked ? $0.property == .noThreadIsBlocked : !exceptions.contains($0.property)
        }
        return first.map { violation in
            Simulation.Failure(
                seed: world.seed,
                property: violation.property,
                observed: violation.text,
                trace: world.trace,
                otherThreadsCount: queue?.arrivalsCount ?? 0
            )
        }
    }

    /// Records the properties that a seed has broken in which nothing goes on, while its calls still wait.
    private func report(_ standstill: RuleStandstill) {
        let hasCalls = world.state.withLock { !$0.calls.isEmpty }
        switch standstill {
        case .blockedThread:
            world.violate(.noThreadIsBlocked, "A job blocks its thread, so that no other task can go on.")
        case .endless:
            world.violate(
                hasCalls && world.waitingCalls.isEmpty ? .timeEnds : .everyCallEnds,
                """
                Jobs or sleeps follow each other without end, or the seed takes longer than \(patience.wholeCheck) in \
                real time.
                """
            )
            world.checkCalls()
        case .stuck where !hasCalls: world.violate(.everyCallEnds, "The closure that makes the client never ends.")
        case .stuck:
            world.checkCalls()
            world.checkRest()
        }
    }

    private static func play(_ world: Simulation.World, _ stage: RuleStage, _ make: Simulation.Factory) async throws {
        try await makeCalls(world, make)
        _ = await stage.reachesInTime { world.clock.nextDeadline == nil }
        world.checkCalls()
        world.checkRest()
        world.dropClosures()
        await stage.idle()
        world.checkRelease()
    }

    /// Makes the client, and returns when all its calls have ended.
    private static func makeCalls(_ world: Simulation.World, _ make: Simulation.Factory) async throws {
        let client = try await make(world)
        if world.state.withLock(\.networks.isEmpty) {
            throw Simulation.NothingTested(
                description: """
                    The closure made a client without world.client(interceptors:) and world.network(), so seed \
                    \(world.seed) tests nothing.
                    """
            )
        }
        let calls = world.makeCalls()
        await withTaskGroup { group in
            for call in calls { group.addTask { await perform(call, client, world) } }
            if world.followsSignIns { world.changeAccounts(in: &group) }
        }
    }

    /// Makes a call, and cancels the call when its time has come.
    private static func perform(_ call: SimulatedCall, _ client: Client, _ world: Simulation.World) async {
        await withTaskGroup { group in
            group.addTask {
                do {
                    try await world.clock.sleep(for: call.delay)
                    try await make(call, client, world)
                    world.ended(call.id, with: nil)
                } catch {
                    world.ended(call.id, with: error)
                }
                return false
            }
            if let delay = call.cancelled {
                group.addTask { (try? await world.clock.sleep(for: delay)) != nil }
            }
            if await group.next() == true { world.cancelled(call.id) }
            group.cancelAll()
        }
    }

    private static func make(_ call: SimulatedCall, _ client: Client, _ world: Simulation.World) async throws {
        var request = call.request(world)
        let start = world.now
        world.note("begin #\(call.id)\(call.account.map { " of \($0)" } ?? "")")
        world.change(call.id) { $0?.began = start }
        if let limit = call.deadline { world.state.withLock(\.setDeadline)?(&request, limit) }
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch {
            world.answered(call.id)
            throw error
        }
        world.answered(call.id)
        let exchange = world.check(response, of: call, since: start)
        switch call.reading {
        case .all:
            let content = try await response.body.collect(upTo: Simulation.contentLimit)
            world.check(content, isWhole: true, of: call, from: exchange, since: start)
        case .part:
            var chunks = response.body.makeAsyncIterator()
            let chunk = try await chunks.next()
            response.body.discard()
            world.check(chunk ?? Data(), isWhole: false, of: call, from: exchange, since: start)
        case .none: response.body.discard()
        }
    }
}

extension Simulation.World {
    fileprivate func makeCalls() -> [SimulatedCall] {
        let hasDeadlines = state.withLock { $0.setDeadline != nil }
        var calls: [SimulatedCall] = []
        for id in 1...number(in: 1...6) {
            calls.append(SimulatedCall(id, self, hasDeadline: hasDeadlines, resembling: calls))
        }
        for call in calls { change(call.id) { $0 = call } }
        return calls
    }

    fileprivate func cancelled(_ id: Int) {
        let now = now
        change(id) { $0?.cancelledAt = now }
        note("cancel #\(id)")
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
