internal import Dispatch
internal import Synchronization

extension ManualClock {
    /// Runs an operation, and advances the clock to the next deadline whenever the operation can only wait, until it ends.
    ///
    /// ```swift
    /// let clock = ManualClock()
    /// let client = Client(baseURL: url, interceptors: [.retry(time: .manual(clock))], transport: stub)
    /// let user: User = try await clock.run { try await client.get("/users/42") }
    /// ```
    /// ## When the clock moves
    /// The operation and its child tasks (`async let`, task groups) run one at a time on an executor that belongs to this call.
    /// So do the tasks that this package starts for the operation: the refresh of a token, an exchange that several requests
    /// share, a validation in the background, a fetch of pins. So the clock knows when no task can continue, also if several
    /// calls of `run` overlap. If at least one task then sleeps on the clock, the clock advances to the earliest deadline, and
    /// no further. The clock therefore waits for tasks that work before they sleep, and reaches deadlines in order.
    ///
    /// The clock doesn't see work elsewhere: in your unstructured tasks (`Task { … }`), in a call that began outside `run`, on
    /// the main actor or another actor with an executor of its choice, in callbacks, on a network, in another process. While the
    /// operation waits for such work, the clock advances as soon as a task sleeps, even if the work would begin an earlier
    /// sleep. If this matters, pass the number of tasks that must sleep before each step. Without a sleeper, the clock waits for
    /// as long as the work takes.
    ///
    /// When the operation has ended, the clock keeps its time, and tasks that still sleep continue to sleep.
    ///
    /// - Parameters:
    ///   - count: the number of tasks that must sleep before each step.
    ///   - failsWhenStuck: whether to throw an error at once when the operation and its child tasks all wait, but too few
    ///     tasks sleep. Choose `true` if the operation waits only for this clock and its child tasks, because nothing else
    ///     could resume the operation. By default `false`.
    ///   - fileID: the file that the error of a stuck operation names; leave it out.
    ///   - line: the line that the error names; leave it out.
    ///   - operation: the operation. If the task that calls `run` is cancelled, so is the operation.
    /// - Throws: the operation's error, or an error that lists the deadlines of the sleeping tasks. It also replaces the
    ///   `CancellationError` of an operation that was cancelled with the task that calls `run`. A test that reaches its time
    ///   limit is cancelled, so it reports which tasks slept.
    public func run<Value: Sendable>(
        sleepers count: Int = 1,
        failingWhenStuck failsWhenStuck: Bool = false,
        fileID: String = #fileID,
        line: Int = #line,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let executor = SteppingExecutor(clock: self)
        let stuck = Mutex<StuckError?>(nil)
        let location = CodeLocation(fileID: fileID, line: line)
        return try await withThrowingTaskGroup(of: Value.self) { group in
            // This handler is newer than the group, so it runs before the group's sleepers are cancelled. It is there before the
            // first of them sleeps.
            try await withTaskCancellationHandler {
                group.addTask(executorPreference: executor) {
                    defer { executor.endOperation() }
                    return try await StartedWork.$watcher.withValue(executor) { try await operation() }
                }
                try await step(executor, count, failsWhenStuck, location)
            } onCancel: {
                stuck.withLock { $0 = StuckError(now: now, deadlines: deadlines, needed: count, location: location) }
            }
            do {
                guard let value = try await group.next() else { throw CancellationError() }
                return value
            } catch is CancellationError {
                throw stuck.withLock { $0 } ?? CancellationError()
            }
        }
    }

    /// Advances the clock until the operation ends or the task is cancelled.
    private func step(
        _ executor: SteppingExecutor,
        _ count: Int,
        _ failsWhenStuck: Bool,
        _ location: CodeLocation
    ) async throws {
        while true {
            let state = await state.first { state in
                let isStep = state.isIdle && (state.sleepers.count >= max(1, count) || failsWhenStuck)
                return executor.hasEnded || isStep ? state : nil
            }
            guard let state, !executor.hasEnded, !Task.isCancelled else { return }
            if state.sleepers.count >= count, let next = state.next {
                // Another run of this clock may have advanced it for the same state. The deadline is then in the past.
                advance(to: next)
            } else if failsWhenStuck, state.isIdle {
                throw StuckError(now: now, deadlines: deadlines, needed: count, location: location)
            }
        }
    }

    /// Thrown by ``run(sleepers:failingWhenStuck:fileID:line:_:)`` when the operation can't end. Lists the deadlines of the
    /// sleeping tasks.
    struct StuckError: Error, CustomStringConvertible {
        /// The clock's time.
        let now: Instant
        /// The deadlines of the tasks that slept on the clock, earliest first.
        let deadlines: [Instant]
        /// The number of sleeping tasks that the next step needed.
        let needed: Int
        /// The call of `run`.
        let location: CodeLocation

        /// The location of the call, the time, and the deadlines.
        var description: String {
            let sleeping =
                deadlines.isEmpty
                ? "No task sleeps on the clock"
                : "Tasks sleep until " + deadlines.map(\.description).joined(separator: ", ")
            let missing = deadlines.count < needed ? "; the next step needs \(needed) sleeping" : ""
            return "ManualClock.StuckError: the operation hasn't ended at \(now). \(sleeping)\(missing) (\(location))"
        }
    }
}

/// Runs the jobs of an operation, of its child tasks and of the package's tasks one after another, and has the clock count
/// them.
private final class SteppingExecutor: WorkWatcher {
    private let queue = DispatchQueue(label: "ManualClock.run")
    private let clock: ManualClock
    private let isOver = Mutex(false)

    init(clock: ManualClock) { self.clock = clock }

    var hasEnded: Bool { isOver.withLock(\.self) }

    /// Notes the end of the operation; its last job is still running.
    func endOperation() {
        isOver.withLock { $0 = true }
        // Tests the conditions of all waits again.
        clock.state.change { _ in }
    }

    func begin() { clock.state.change { $0.jobs += 1 } }

    func end() { clock.state.change { $0.jobs -= 1 } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        begin()
        queue.async { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            end()
        }
    }
}
