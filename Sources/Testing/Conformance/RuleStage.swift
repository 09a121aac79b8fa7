internal import Foundation
internal import Synchronization

/// Runs the tasks of one check, one job at a time on one thread, and moves the time when nothing else can go on.
final class RuleStage: Sendable {
    typealias Report = @Sendable (RuleStandstill) -> any Error

    /// Waits for a condition, while the time stands still.
    private struct Waiter {
        let condition: @Sendable () -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var waiters: [Waiter] = []
        var result: Result<Void, any Error>?
        var root: Task<Void, Never>?
    }

    let queue: JobQueue
    let clock: ManualClock
    private let patience: RulePatience
    /// Whether to wait for other threads before the time moves, even if none has taken part yet.
    private let waitsForThreads: Bool
    private let state = Mutex(State())
    /// The number of jobs that began, doubled, plus one while a job runs.
    private let beat = Atomic<Int>(0)
    private let isStopped = Atomic(false)
    private static let mostTimerSteps = 1_000

    private init(seed: UInt64, clock: ManualClock, patience: RulePatience, waitsForThreads: Bool) throws {
        queue = try JobQueue(seed: seed)
        self.clock = clock
        self.patience = patience
        self.waitsForThreads = waitsForThreads
    }

    /// Runs an operation: one job at a time, on a thread that belongs to the run, in an order that the seed determines.
    ///
    /// - Parameters:
    ///   - clock: moves when nothing else can go on.
    ///   - report: makes the error to throw when nothing can go on.
    /// - Throws: `JobQueue.Unavailable` if the runtime doesn't let a program order its tasks.
    static func run(
        seed: UInt64,
        clock: ManualClock,
        patience: RulePatience,
        waitsForThreads: Bool = false,
        report: @escaping Report,
        _ operation: @escaping @Sendable (RuleStage) async throws -> Void
    ) async throws {
        let stage = try RuleStage(seed: seed, clock: clock, patience: patience, waitsForThreads: waitsForThreads)
        try await withTaskCancellationHandler {
            let lastBeat = Guarded<Int?>(nil)
            try await WatchedWork.run(every: patience.blockedThread) {
                let (earlier, beat) = (lastBeat.value, stage.beat.load(ordering: .relaxed))
                lastBeat.change { $0 = beat }
                // An odd beat that stays is a job that blocks its thread, which can't be ended.
                guard beat == earlier, beat % 2 == 1 else { return nil }
                return {
                    stage.isStopped.store(true, ordering: .relaxed)
                    // On another thread, because a cancellation handler may wait for what the blocked thread holds.
                    defer { Thread.detachNewThread { stage.state.withLock(\.root)?.cancel() } }
                    return report(.blockedThread)
                }
            } start: { end in
                // On a separate thread, because the run owns its thread, and the checked code may block it.
                let thread = Thread { end(Result { try stage.play(report, operation) }) }
                thread.stackSize = 4 << 20
                thread.start()
            }
        } onCancel: {
            stage.isStopped.store(true, ordering: .relaxed)
        }
    }

    private func play(_ report: Report, _ operation: @escaping @Sendable (RuleStage) async throws -> Void) throws {
        let root = queue.enter {
            Task(executorPreference: queue) { [self] in
                let result: Result<Void, any Error>
                do { result = .success(try await operation(self)) } catch { result = .failure(error) }
                state.withLock { $0.result = result }
            }
        }
        state.withLock { $0.root = root }
        // Reported before the calls are cancelled, while they still wait.
        let result = Result { try run() }.mapError { ($0 as? RuleStandstill).map(report) ?? $0 }
        // Counted like a job, because a cancellation handler may block this thread too.
        beat.add(1, ordering: .relaxed)
        queue.enter { root.cancel() }
        beat.add(1, ordering: .relaxed)
        // Ends what the check left behind, so that it doesn't stay in memory.
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        queue.enter { for waiter in waiters { waiter.continuation.resume(returning: false) } }
        _ = runJobs(limit: 100_000)
        try result.get()
    }

    private func run() throws {
        var (jobs, steps) = (0, 0)
        let end = ContinuousClock.now + patience.wholeCheck
        while jobs < patience.mostJobs, steps < patience.mostSteps, ContinuousClock.now < end {
            jobs += runJobs(limit: 100_000)
            if isStopped.load(ordering: .relaxed) { throw CancellationError() }
            if let result = state.withLock(\.result) { return try result.get() }
            steps += 1
            // Once another thread has taken part, a job may be away without being seen.
            if waitsForThreads || queue.arrivalsCount > 0, queue.waitBriefly() { continue }
            if resumeWaiter() { continue }
            if state.withLock({ !$0.waiters.isEmpty }) {
                if !queue.waitForOtherThreads(upTo: patience.otherThreads) { giveUpWaiter() }
            } else if let deadline = clock.nextDeadline {
                queue.enter { clock.advance(to: deadline) }
            } else if !queue.waitForOtherThreads(upTo: patience.otherThreads) {
                throw RuleStandstill.stuck
            }
        }
        throw RuleStandstill.endless
    }

    private func runJobs(limit: Int) -> Int {
        var count = 0
        while count < limit {
            beat.add(1, ordering: .relaxed)
            let ran = queue.runAll(limit: 1)
            beat.add(1, ordering: .relaxed)
            if ran == 0 { break }
            count += 1
        }
        return count
    }

    private func resumeWaiter() -> Bool {
        let waiters = state.withLock(\.waiters)
        guard let index = waiters.firstIndex(where: { $0.condition() }) else { return false }
        state.withLock { _ = $0.waiters.remove(at: index) }
        queue.enter { waiters[index].continuation.resume(returning: true) }
        return true
    }

    private func giveUpWaiter() {
        let waiter = state.withLock { $0.waiters.removeFirst() }
        queue.enter { waiter.continuation.resume(returning: false) }
    }
}

extension RuleStage {
    /// Waits until no task can go on without the time.
    func idle() async { _ = await reaches { true } }

    /// Waits until no task can go on without the time and the condition holds. Returns `false` if the condition can't be reached.
    func reaches(_ condition: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiters.append(Waiter(condition: condition, continuation: continuation)) }
        }
    }

    /// Waits until the condition holds, and lets time pass while no task can go on. Returns `false` if the condition can't be
    /// reached.
    func reachesInTime(_ condition: @escaping @Sendable () -> Bool) async -> Bool {
        await idle()
        while !condition(), let deadline = clock.nextDeadline {
            clock.advance(to: deadline)
            await idle()
        }
        return await reaches(condition)
    }

    /// Waits until all sleeps on the clock have ended and no task can go on, but not for a timer that repeats without end.
    func settle() async {
        await idle()
        var steps = 0
        while steps < Self.mostTimerSteps, let deadline = clock.nextDeadline {
            clock.advance(to: deadline)
            await idle()
            steps += 1
        }
    }
}

/// How long a check waits in real time, and how much it does, before it gives up.
struct RulePatience: Sendable {
    /// For other threads, when nothing can go on here.
    var otherThreads = Duration.seconds(3)
    /// For a job that blocks the thread.
    var blockedThread = Duration.seconds(30)
    /// For the whole check of an interceptor, whose sleeps on another clock may follow each other without end.
    var wholeCheck = Duration.seconds(120)
    var mostJobs = 3_000_000
    /// How often the time moves, or a wait of the check ends.
    var mostSteps = 100_000
}

/// Why a check ended without a result.
enum RuleStandstill: Error {
    /// Nothing can go on, and the check hasn't ended.
    case stuck
    /// Jobs or sleeps follow each other without end.
    case endless
    /// A job blocks its thread, so that no other task can go on.
    case blockedThread
}
