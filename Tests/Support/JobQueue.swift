import Foundation
import Synchronization

/// Runs the tasks that are started on one thread one job at a time, in an order that a seed decides: concurrency that can be
/// played again.
///
/// ```swift
/// let queue = try JobQueue(seed: 42)
/// queue.enter {
///     Task { … }              // and whatever it starts, structured or not
///     queue.runAll()          // returns when every task has ended, or waits for something that no task will bring about
/// }
/// ```
/// ## How
/// Tasks without an actor of their own run on the global executor, whose entrance the runtime lets one replace (on Apple's
/// platforms and on Linux: `swift_task_enqueueGlobal_hook`). What is enqueued by a thread inside of ``enter(_:)`` goes to
/// the queue of that thread; what any other thread enqueues goes where it always went. So tests that run at the same time
/// don't notice. Since jobs of the queue run on that thread alone, all that they enqueue comes to the queue again.
///
/// Of the jobs that are ready any may be the next: the seed chooses. So a race is found by trying seeds.
public final class JobQueue: Sendable {
    /// The runtime has no such entrance.
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

    /// Runs something on this thread such that the tasks it starts are the queue's.
    public func enter<Value>(_ body: () throws -> Value) rethrows -> Value {
        let outer = pthread_getspecific(currentQueue)
        pthread_setspecific(currentQueue, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(currentQueue, outer) }
        return try body()
    }

    /// Runs jobs until none is ready.
    ///
    /// - Parameter limit: the most jobs to run.
    /// - Returns: how many were run.
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

    // What a job runs on must have a name; what it enqueues comes back through the hook, or through here.
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

// Set once and never taken back: for threads without a queue it changes nothing.
private let isHookInstalled: Bool = {
    guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return false }
    symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
        if let queue = JobQueue.current { queue.enqueue(job) } else { original(job) }
    }
    return true
}()
