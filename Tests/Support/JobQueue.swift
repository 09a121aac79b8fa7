import Foundation
import Synchronization

/// Runs the tasks that are started on one thread one job at a time, in an order that a seed determines. A test can
/// repeat a race with its seed.
///
/// ```swift
/// let queue = try JobQueue(seed: 42)
/// queue.enter {
///     Task { … }              // and any task that this one starts, structured or not
///     queue.runAll()          // returns when every task has ended, or none can go on
/// }
/// ```
/// ## How
/// Tasks without an actor run on the global executor. The runtime lets a program replace its entry point through
/// `swift_task_enqueueGlobal_hook`, on Apple's platforms and on Linux. Jobs that a thread enqueues inside ``enter(_:)``
/// go to that thread's queue. Jobs of any other thread go to the global executor, which leaves parallel tests alone.
/// The queue runs its jobs on that thread alone, so the jobs that they enqueue return to the queue.
///
/// The seed chooses the next job among those that are ready. Trying many seeds finds a race.
public final class JobQueue: Sendable {
    /// This runtime has no `swift_task_enqueueGlobal_hook`.
    public struct Unavailable: Error {}

    private struct State {
        var jobs: [UnownedJob] = []
        var random: SeededGenerator
    }

    private let state: Mutex<State>
    private let executor = Executor()

    /// A queue whose order the seed decides.
    public init(seed: UInt64) throws {
        guard isHookInstalled else { throw Unavailable() }
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    /// Runs the closure on this thread. The tasks that it starts belong to the queue.
    public func enter<Value>(_ body: () throws -> Value) rethrows -> Value {
        let outer = pthread_getspecific(currentQueue)
        pthread_setspecific(currentQueue, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(currentQueue, outer) }
        return try body()
    }

    /// Runs jobs until none is ready.
    ///
    /// - Parameter limit: the maximum number of jobs to run.
    /// - Returns: the number of jobs that were run.
    @discardableResult
    public func runAll(limit: Int = .max) -> Int {
        var count = 0
        enter {
            while count < limit, let job = next() {
                job.runSynchronously(on: executor.asUnownedTaskExecutor())
                count += 1
            }
        }
        return count
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard !state.jobs.isEmpty else { return nil }
            let index = Int.random(in: 0..<state.jobs.count, using: &state.random)
            state.jobs.swapAt(index, state.jobs.count - 1)
            return state.jobs.removeLast()
        }
    }

    fileprivate func enqueue(_ job: UnownedJob) { state.withLock { $0.jobs.append(job) } }

    // A job that runs on a thread needs an executor. Jobs that it enqueues arrive through the hook or through this
    // executor.
    private final class Executor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            if let queue = JobQueue.current { queue.enqueue(job) } else { preconditionFailure("Outside of a queue.") }
        }
    }

    fileprivate static var current: JobQueue? {
        pthread_getspecific(currentQueue).map { Unmanaged<JobQueue>.fromOpaque($0).takeUnretainedValue() }
    }
}

private let currentQueue: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
}()

private typealias Original = @convention(thin) (UnownedJob) -> Void
private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

// The hook is set once and stays: for threads without a queue it changes nothing.
private let isHookInstalled: Bool = {
    guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return false }
    symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
        if let queue = JobQueue.current { queue.enqueue(job) } else { original(job) }
    }
    return true
}()
