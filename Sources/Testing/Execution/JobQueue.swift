internal import Dispatch
internal import Foundation
internal import Synchronization

/// Runs the tasks that are started on one thread one job at a time, in an order that a seed determines. A test can
/// repeat a race with its seed.
///
/// ```text
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
/// A task with this queue as its executor preference also returns to the queue when another thread resumes the task. A task
/// without a preference continues on the global executor then.
///
/// The seed chooses the next job among those that are ready. Trying many seeds finds a race.
package final class JobQueue: TaskExecutor {
    /// This runtime has no `swift_task_enqueueGlobal_hook`.
    package struct Unavailable: Error, CustomStringConvertible {
        package var description: String {
            "This Swift runtime has no swift_task_enqueueGlobal_hook, so tasks can't run in an order that a seed decides."
        }
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var arrivalsCount = 0
        var otherThreadsCount = 0
        var hasMainThread = false
        var random: Numbers
    }

    private let state: Mutex<State>
    /// Signalled when another thread adds a job.
    private let arrivals = DispatchSemaphore(value: 0)

    /// Creates a queue whose order the seed decides.
    package init(seed: UInt64) throws {
        guard isHookInstalled else { throw Unavailable() }
        state = Mutex(State(random: Numbers(source: .seeded(seed))))
    }

    /// Runs the closure on this thread. The tasks that it starts belong to the queue.
    package func enter<Value>(_ body: () throws -> Value) rethrows -> Value {
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
    package func runAll(limit: Int = .max) -> Int {
        var count = 0
        enter {
            while count < limit, let job = next() {
                job.runSynchronously(on: asUnownedTaskExecutor())
                count += 1
            }
        }
        return count
    }

    /// Waits until another thread adds a job, and returns `false` if none did in time.
    package func waitForOtherThreads(upTo limit: Duration) -> Bool {
        guard state.withLock({ $0.jobs.isEmpty }) else { return true }
        let nanoseconds = Int(clamping: Int64((limit / .nanoseconds(1)).rounded()))
        while arrivals.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success {
            if state.withLock({ !$0.jobs.isEmpty }) { return true }
        }
        return false
    }

    /// How often a thread other than this queue's and the main one has added a job: after a sleep on a clock of the system, or
    /// when work of another thread was done.
    package var otherThreadsCount: Int { state.withLock(\.otherThreadsCount) }

    /// How often any other thread, the main one included, has added a job.
    package var arrivalsCount: Int { state.withLock(\.arrivalsCount) }

    /// Waits until the main thread has done its present work, and a moment for other threads. Returns whether a job is ready.
    package func waitBriefly() -> Bool {
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.main.async { done.signal() }
        // Limited, because the main thread may be blocked, or run no loop. If it has added a job, it is only busy.
        let limit = state.withLock(\.hasMainThread) ? DispatchTimeInterval.seconds(20) : .milliseconds(200)
        _ = done.wait(timeout: .now() + limit)
        return waitForOtherThreads(upTo: .milliseconds(2))
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard !state.jobs.isEmpty else { return nil }
            let index = Int.random(in: 0..<state.jobs.count, using: &state.random)
            state.jobs.swapAt(index, state.jobs.count - 1)
            return state.jobs.removeLast()
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let isElsewhere = Self.current !== self
        // Before the job is added, because it may end the check that asks for the count.
        if isElsewhere {
            // On Linux, the main queue may run on any thread.
            let isMain = Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueue) != nil
            state.withLock { state in
                state.arrivalsCount += 1
                if isMain { state.hasMainThread = true } else { state.otherThreadsCount += 1 }
            }
        }
        add(UnownedJob(job))
        if isElsewhere { arrivals.signal() }
    }

    fileprivate func add(_ job: UnownedJob) { state.withLock { $0.jobs.append(job) } }

    fileprivate static var current: JobQueue? {
        pthread_getspecific(currentQueue).map { Unmanaged<JobQueue>.fromOpaque($0).takeUnretainedValue() }
    }

    private struct Numbers: RandomNumberGenerator {
        let source: RandomSource
        mutating func next() -> UInt64 { source.next() }
    }
}

private let currentQueue: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
}()

/// The key of a value that only the main queue has. Set once, because a second value would free the first, which another thread
/// may be reading.
private let mainQueue: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
}()

private typealias Original = @convention(thin) (UnownedJob) -> Void
private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
// The hook is set once and stays: for threads without a queue it changes nothing.
private let isHookInstalled: Bool = {
    guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return false }
    symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
        if let queue = JobQueue.current { queue.add(job) } else { original(job) }
    }
    return true
}()
