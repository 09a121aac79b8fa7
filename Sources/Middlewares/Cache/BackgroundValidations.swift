internal import Synchronization

/// Background validations of responses that were served stale (RFC 5861 §3): one at a time per key, and at most 64 in all.
///
/// At the limit a validation is dropped; the next request for the same response tries again.
final class BackgroundValidations: Sendable {
    static let limit = 64

    // A key is inserted without a task before the task is created, so that the task can't end before its key is there.
    private let tasks = Mutex<[CacheKey: Task<Void, Never>?]>([:])

    /// Runs the work in a new task, unless a validation of the key is in progress or the limit is reached.
    func begin(_ key: CacheKey, _ work: @escaping @Sendable () async -> Void) {
        let isWanted = tasks.withLock { tasks in
            guard !tasks.keys.contains(key), tasks.count < Self.limit else { return false }
            tasks[key] = .some(nil)
            return true
        }
        guard isWanted else { return }
        let task = Task(executorPreference: StartedWork.watcher) { [self] in
            await work()
            tasks.withLock { _ = $0.removeValue(forKey: key) }
        }
        tasks.withLock { if $0.keys.contains(key) { $0[key] = task } }
    }

    /// Waits until no validation is in progress.
    func end() async {
        while let task = tasks.withLock({ $0.values.compactMap(\.self).first }) { await task.value }
    }
}
