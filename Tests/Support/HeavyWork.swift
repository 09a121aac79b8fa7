internal import Synchronization

/// Lets one piece of heavy work run at a time, in order of arrival, whichever module it is of.
///
/// Nobody blocks a thread: where a few threads run all tests, one that waits for a lock is missing to those it waits for.
public final class HeavyWork: Sendable {
    /// The one for this process.
    public static let shared = HeavyWork()

    private struct State {
        var isBusy = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs the work when all that came before has ended.
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
