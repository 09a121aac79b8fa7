internal import Synchronization

/// Runs one piece of heavy work at a time, in order of arrival, across all test modules.
///
/// Waiting suspends the task and blocks no thread: with few threads, a blocked thread would be missing from the pool
/// that runs the tests.
public final class HeavyWork: Sendable {
    /// The queue of this process.
    public static let shared = HeavyWork()

    private struct State {
        var isBusy = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs the work after all work that arrived earlier has ended.
    public func run(_ work: () async throws -> Void) async rethrows {
        await withCheckedContinuation { continuation in
            let mayRun = state.withLock { state in
                guard state.isBusy else {
                    state.isBusy = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if mayRun { continuation.resume() }
        }
        defer {
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
                state.isBusy = false
                return nil
            }
            next?.resume()
        }
        try await work()
    }
}
