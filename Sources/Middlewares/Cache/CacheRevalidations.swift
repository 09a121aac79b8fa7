internal import Synchronization

/// The validations of what was served stale (RFC 5861 §3): one at a time for a key, and so many in all.
///
/// What finds no room is not made up for: the next reader of the same response asks again.
final class CacheRevalidations: Sendable {
    static let limit = 64

    // The task is not known yet while it is being made.
    private let tasks = Mutex<[CacheKey: Task<Void, Never>?]>([:])

    /// Does the work in a task of its own, unless there is one for the key, or too many.
    func begin(_ key: CacheKey, _ work: @escaping @Sendable () async -> Void) {
        let isWanted = tasks.withLock { tasks in
            guard !tasks.keys.contains(key), tasks.count < Self.limit else { return false }
            tasks[key] = .some(nil)
            return true
        }
        guard isWanted else { return }
        let task = Task {
            await work()
            tasks.withLock { _ = $0.removeValue(forKey: key) }
        }
        tasks.withLock { if $0.keys.contains(key) { $0[key] = task } }
    }

    /// Waits until none is under way.
    func end() async {
        while let task = tasks.withLock({ $0.values.compactMap(\.self).first }) { await task.value }
    }
}
