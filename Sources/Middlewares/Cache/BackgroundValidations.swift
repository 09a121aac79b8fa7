internal import Synchronization

/// Background validations of responses that were served stale (RFC 5861 §3): one at a time per key, and at most 64 in all.
///
/// At the limit a validation is dropped; the next request for the same response tries again.
final class BackgroundValidations: Sendable {
    static let limit = 64

    let keys = Mutex<Set<CacheKey>>([])

    /// Runs the work in a new task, unless a validation of the key is in progress or the limit is reached.
    func begin(_ key: CacheKey, _ work: @escaping @Sendable () async -> Void) {
        guard keys.withLock({ $0.count < Self.limit && $0.insert(key).inserted }) else { return }
        Task(executorPreference: StartedWork.watcher) { [self] in
            await work()
            keys.withLock { _ = $0.remove(key) }
        }
    }
}
