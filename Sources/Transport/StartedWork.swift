/// The work that the package starts in a task or a thread of its choice, as a clock of a test sees it.
///
/// A clock that moves by itself must know when no work can continue. Child tasks inherit its executor; other tasks and threads
/// don't. So the package starts such tasks by `Task(executorPreference: StartedWork.watcher)`, and waits for threads inside
/// ``elsewhere(_:)``. Outside a test there is no watcher, and both change nothing.
package enum StartedWork {
    /// Runs the tasks that belong to the current call; `nil` outside a test's clock.
    @TaskLocal package static var watcher: (any WorkWatcher)?

    /// Waits for work on a thread, which counts as work of the current call meanwhile.
    package static func elsewhere<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        let watcher = watcher
        watcher?.begin()
        defer { watcher?.end() }
        return try await work()
    }
}

/// An executor that knows whether any work of its tasks can continue.
package protocol WorkWatcher: TaskExecutor {
    /// Counts work on another thread, until ``end()``.
    func begin()
    /// Ends work that was counted by ``begin()``.
    func end()
}
